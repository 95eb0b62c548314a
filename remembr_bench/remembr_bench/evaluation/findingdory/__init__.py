"""FindingDory's instructions (arXiv 2506.15635) in simulated homes."""
