"""The node that serves the page beside a running robot."""
