"""A chat server that replies by script: for tests, and for trying things without a language model.

Start at server.py; reply.py is what a script says.
"""
