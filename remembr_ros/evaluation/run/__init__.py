"""A run: planners are asked the questions of a data set, and all of it is kept in a folder."""
