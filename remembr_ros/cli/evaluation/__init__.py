"""The data sets and tools of remembr eval, one file each."""
