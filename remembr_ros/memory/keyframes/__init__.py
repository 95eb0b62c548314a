"""keyframes."""
