"""Clients of chat APIs of language models: requests and replies. Start at client.py."""
