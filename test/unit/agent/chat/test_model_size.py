import math
from types import SimpleNamespace
from typing import Any

import pytest

from remembr_ros.agent.chat.model_size import parameters_among, parameters_in


@pytest.mark.parametrize(
    ('name', 'size_b'),
    [
        ('qwen2.5-coder:0.5b', 0.5),
        ('Qwen2.5-Coder-1.5B-Instruct', 1.5),
        ('/models/gemma-3-270m-it.gguf', 0.27),
        ('SmolLM2-135M', 0.135),
        ('llama3.2:3b', 3.0),
        ('Qwen3-Coder-480B-A35B-Instruct', 480.0),
        ('gpt-4o', math.inf),
        ('mixtral-8x7b', 7.0),
        ('llm', math.inf),
        ('', math.inf),
    ],
)
def test_a_name_says_how_large_a_model_is(name: str, size_b: float) -> None:
    assert parameters_in(name) == pytest.approx(size_b)


def listed(name: Any, **fields: Any) -> SimpleNamespace:
    return SimpleNamespace(id=name, **fields)


COUNTED = listed('/models/m.gguf', meta={'n_params': 1_777_088_000})
FROM = listed('local', root='Qwen/Qwen2.5-1.5B-Instruct')


@pytest.mark.parametrize(
    ('models', 'name', 'size_b'),
    [
        ([COUNTED], '/models/m.gguf', 1.777),
        ([COUNTED], 'any other', 1.777),
        ([COUNTED], '', 1.777),
        ([COUNTED, FROM], 'local', 1.5),
        ([FROM, COUNTED], '', 1.5),
        ([FROM, COUNTED], 'another', math.inf),
        ([listed('Qwen2.5-0.5B.gguf')], 'qwen', 0.5),
        ([listed('m', meta={'n_params': '?'})], 'm', math.inf),
        ([listed('m', meta={'n_params': 0})], 'm', math.inf),
        ([listed(None, meta=[], root=None)], 'm', math.inf),
        ([None], 'm', math.inf),
        ([], 'm', math.inf),
    ],
)
def test_a_server_says_how_large_its_model_is(models: list[Any], name: str, size_b: float) -> None:
    assert parameters_among(models, name) == pytest.approx(size_b, rel=1e-3)
