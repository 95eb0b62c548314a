"""The remembr command: main.py finds a verb, verbs/ has each in a file, serving/ those that go on."""
