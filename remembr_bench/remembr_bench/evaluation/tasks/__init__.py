"""Tasks for a robot in a simulated place: goals made of predicates, and what became of them."""
