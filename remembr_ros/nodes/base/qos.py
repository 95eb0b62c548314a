"""The quality of service of every topic."""

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy


def keep_last(depth: int, *, reliable: bool = True, latched: bool = False) -> QoSProfile:
    """Return a quality of service; latched: those who come later get the last messages, too."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


# Where the camera is reliable, too: best effort loses nearly all raw images, which have megabytes.
IMAGES = keep_last(10)
POSES = keep_last(100, reliable=False)  # odometry and fixes, at whatever reliability they are published
# AMCL's pose, which is published only when it changes; does not match volatile publishers.
LATCHED_POSE = keep_last(100, latched=True)

TF = keep_last(100)
TF_STATIC = keep_last(100, latched=True)
CAPTIONS = keep_last(1000)  # none may be lost while the memory node is busy; deep, but bounded
EVENTS = keep_last(10_000)  # a robot that was offline tells of its day at once
# Requests that come at once wait for their turn; of the usual depth of 10 the rest would get no response.
SERVICES = keep_last(1000)
# Many at once are counted rather than lost: what does not fit here DDS drops without a word.
QUESTIONS = keep_last(1000)
ANSWERS = keep_last(1000)  # as many as there may be questions, for whoever takes them slowly
MARKERS = keep_last(1, latched=True)  # RViz sees all markers even if it starts late
CLICKS = keep_last(1, reliable=False)  # from whatever program somebody looks with
MAPS = keep_last(1, latched=True)  # map_server's and Nav2's: published once, for whoever comes later
MAP_UPDATES = keep_last(100)  # each is a part of a map, so that none may be lost
SPEECH = keep_last(10)  # what was heard, and whether the robot speaks
CLOCK = keep_last(10)
DIAGNOSTICS = keep_last(100)  # each node of a robot publishes its own, once a second
