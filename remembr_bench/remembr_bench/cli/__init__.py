"""The data sets and tools of remembr eval, one file each; data_set.py runs an evaluation."""
