"""How well a memory fits a text: words, sentences, spelling, and the ranking made of these."""
