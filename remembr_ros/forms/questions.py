"""Questions in words: to the agent, and what a day was like."""

from datetime import date
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from remembr_ros.forms.fields import MAX_TEXT, Map, Place, Position, Robot, word
from remembr_ros.forms.form import Form
from remembr_ros.forms.scope import ScopeForm

_DAY = 'such as 2026-11-23, yesterday, Tuesday, yesterday afternoon, last 2 hours'


def _date(value: Any) -> Any:
    return str(value) if isinstance(value, date) else value


class AskForm(ScopeForm):
    """Ask the robot's memory a question; the answer rests on the memories it cites, or says not seen."""

    question: Annotated[
        str,
        word('in plain words', 'Where is the red mug?', 'text q query', min_length=1, max_length=MAX_TEXT),
    ]


class AskHereForm(AskForm):
    __doc__ = AskForm.__doc__
    here: Annotated[Position | None, word('where the robot is, on that map', [2, 1.5, 0], unit='m')] = None


class TalkForm(AskForm):
    __doc__ = AskForm.__doc__
    conversation: Annotated[
        str, word('any name: follow-up questions refer to what was asked with it', 'tour', max_length=64)
    ] = ''


class DayForm(Form):
    """Tell what the robot did and saw in a time: its stays and drives, what was seen and read."""

    day: Annotated[
        str, Field(max_length=200), BeforeValidator(_date), word(_DAY, 'yesterday', 'date when time')
    ] = 'today'
    robot: Robot = ()
    map: Map = None
    place: Place = None
