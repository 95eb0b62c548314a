"""The laboratory of remembr_ros: evaluations, simulated buildings and homes, the demo, CODa's recordings.

It may import all of remembr_ros, which imports nothing of it: a robot does without. Its verbs come to the
command `remembr` by entry points.
"""

__version__ = '0.1.0'
