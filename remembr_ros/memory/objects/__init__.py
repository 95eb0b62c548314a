"""Objects: things with an id that persist, each kept as one memory of the source `object`."""
