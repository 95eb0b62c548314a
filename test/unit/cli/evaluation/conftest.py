"""The data sets of the tests of evaluation, for the verbs over them."""

from test.unit.evaluation.conftest import clock, navqa, record

__all__ = ['clock', 'navqa', 'record']
