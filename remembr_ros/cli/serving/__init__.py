"""The verbs that go on until they are stopped: a page in a browser, a server for other agents."""
