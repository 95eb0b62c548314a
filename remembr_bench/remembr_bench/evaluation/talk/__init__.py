"""Talk of a person with a robot in a simulated home, made by two language models."""
