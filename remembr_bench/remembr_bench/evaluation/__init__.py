"""Data sets, metrics and reports.

Start at run/execution.py, which carries out what records/config.py describes: the questions of datasets/
are asked, metrics/ scores the answers, records/ keeps them, report/ shows them; baselines/ are planners to
compare with.
"""
