"""The command, and the data sets of the tests of evaluation, for the verbs over them."""

from test.unit.cli.conftest import bag, command, command_json, memory_file
from test.unit.evaluation.conftest import clock, navqa, record

__all__ = ['bag', 'clock', 'command', 'command_json', 'memory_file', 'navqa', 'record']
