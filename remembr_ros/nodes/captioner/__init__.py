"""The captioner node: images and poses become captions of segments."""
