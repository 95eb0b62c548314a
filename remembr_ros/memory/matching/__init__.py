"""How well a memory fits a text: words, sentences, spelling. ranking.py makes one order of these."""
