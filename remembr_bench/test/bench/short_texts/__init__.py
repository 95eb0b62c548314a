"""Retrieval among short texts, made up for this: turns of a dialogue, notes, objects, lines of a log.

    python -m test.bench.short_texts

Prints how often the text that a question asks for is first, among the first 5 and the first 15: by the
recall, by meaning alone, by words alone (BM25) and by the sum of both, each in standard deviations.
"""
