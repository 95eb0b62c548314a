"""Processes that change a memory and are killed: what runs again ends as if nothing had happened.

rounds: kill, run again, compare          zygote: a warm process that forks the ones to be killed
verbs: what changes a memory              recordings: those of them that read what a robot saw and did
steps: where in its work one is killed
state: what a memory holds                traces: what is left of what was forgotten
"""
