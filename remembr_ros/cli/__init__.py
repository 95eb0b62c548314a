"""The remembr command: main.py finds a verb, verbs/ has each in a file, evaluation/ those of remembr eval,
serving/ those that go on until they are stopped."""
