from types import SimpleNamespace

from remembr_bench.evaluation.records.record import QuestionTrace


def test_the_seconds_of_a_call_are_the_models_own():
    trace = QuestionTrace(pace=SimpleNamespace(waited_s=2.0))
    record = trace.begin()
    record('chat', {'seconds': 2.5, 'prompt_tokens': 7})
    trace.pace.waited_s = 5.0
    record('chat', {'seconds': 3.25, 'completion_tokens': 1})
    record('answered', {'kind': 'position'})
    assert [call['seconds'] for call in trace.chat] == [0.5, 0.25]
    assert (trace.spent.calls, trace.spent.prompt_tokens, trace.spent.completion_tokens) == (2, 7, 1)
