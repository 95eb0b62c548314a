"""What finds things in images: the detectors, and what each says of one thing."""
