"""What a memory is, what can be asked of memories, and what keeps them.

Start at record.py; engine.py is what the store needs of either engine, recall.py what everybody needs of
the store.
"""
