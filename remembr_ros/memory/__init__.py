"""What is stored and how it is found.

opening.py makes a MemoryStore, store.py is that: start there. search.py finds, intake.py takes in,
retention.py says what goes, whole_changes.py forgets and moves maps. The rooms: model/, matching/,
consolidation/, keyframes/; two engines, embedded/ and server/; spool/ for while a server is
away; exchange/ to and from files.
"""
