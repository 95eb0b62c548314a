// What is drawn on the map.
