"""How robots moved: stops, turns and legs, from the poses of their memories."""
