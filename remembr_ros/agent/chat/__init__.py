"""Language models behind a chat API: clients, what they send and what they reply."""
