"""Folders of CODa, the UT Campus Object Dataset, to rosbags."""
