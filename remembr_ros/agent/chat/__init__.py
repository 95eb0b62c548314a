"""Language models behind a chat API: what they are sent and what they reply. Start at client.py."""
