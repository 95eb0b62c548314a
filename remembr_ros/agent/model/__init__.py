"""Questions, answers, and the rules by which answers rest on memories."""
