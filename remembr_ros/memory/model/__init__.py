"""What a memory is, what can be asked of memories, and what keeps them.

Start at record.py; storable.py is what a memory may hold, uri.py where memories are, engine.py what the store
needs of either engine, recall.py what everybody needs of the store.
"""
