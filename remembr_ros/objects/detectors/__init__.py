"""Object detectors, and the detections that they return."""
