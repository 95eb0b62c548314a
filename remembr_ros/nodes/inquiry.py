"""A question on its way through the agent node, and what became of it."""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rclpy.task import Future

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.msg import Answer as AnswerMsg

Feedback = AskAction.Feedback


@dataclass(eq=False)
class Inquiry:
    """One question under way; nothing of it is shared with another.

    :param deadline: on time.monotonic's clock; nobody waits for the answer any longer [s]
    :param outcome: completes with an Outcome
    """

    text: str
    navigate: bool = False
    deadline: float = math.inf
    asker: str = ''
    on_feedback: Callable[[Feedback], None] = lambda feedback: None
    cancel: threading.Event = field(default_factory=threading.Event)
    outcome: Future = field(default_factory=Future)


@dataclass(frozen=True)
class Outcome:
    """What became of a question."""

    error_code: int = AskAction.Result.NONE
    error_msg: str = ''
    answer: AnswerMsg = field(default_factory=AnswerMsg)

    def fill(self, response: Any) -> Any:
        """Return the action's result, or the service's response, with this in it."""
        response.error_code, response.error_msg, response.answer = (
            self.error_code,
            self.error_msg,
            self.answer,
        )
        return response
