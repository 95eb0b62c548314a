"""How many parameters a model has, as its name or its server says."""

import math
import re
from collections.abc import Sequence
from typing import Any

_SIZE = re.compile(r'(?<![\d.])(\d+(?:\.\d+)?)([bm])(?![a-z])')
_UNITS = {'b': 1.0, 'm': 1e-3}


def parameters_in(name: str) -> float:
    """Return the billions of parameters that a model's name tells, such as Qwen2.5-1.5B; else infinity."""
    sizes = [float(number) * _UNITS[unit] for number, unit in _SIZE.findall(name.lower())]
    return max(sizes, default=math.inf)


def parameters_among(listed: Sequence[Any], name: str) -> float:
    """Return the billions of parameters of a model that a server lists; infinity: it does not say.

    llama.cpp counts them, vLLM tells where the model is from. Who serves one model asks that one, whatever
    name is given.

    :param listed: models, of which any part may be missing or mistyped
    :param name: empty: the first one is asked
    """
    named = [model for model in listed if getattr(model, 'id', None) == name]
    model = next(iter(named or (listed if len(listed) == 1 or not name else ())), None)
    about = getattr(model, 'meta', None)
    count = about.get('n_params') if isinstance(about, dict) else None
    if isinstance(count, int) and count > 0:
        return count / 1e9
    return parameters_in(f'{getattr(model, "id", "")} {getattr(model, "root", "")}')
