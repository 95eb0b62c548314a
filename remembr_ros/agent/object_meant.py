"""Asks a vision language model which object a deed was done to, and its state since."""

from collections.abc import Sequence

from remembr_ros.agent.chat.bounded_call import complete
from remembr_ros.agent.chat.client import ChatClient, Message, Picture
from remembr_ros.agent.chat.loose_json import read_object
from remembr_ros.agent.llm.budgeted_dialogue import prompt
from remembr_ros.agent.planner import Run
from remembr_ros.errors import ReplyInvalid

MAX_STATE = 60  # characters of how something is
CALL_S = 30.0  # for one look [s]


def look_which(
    chat: ChatClient, deed: str, names: Sequence[str], pictures: Sequence[bytes], run: Run
) -> tuple[int | None, str]:
    """Return which of some things a deed was done to, and its state; None: none of them, empty: not known.

    :param deed: a sentence
    :param names: what the things are called, in the order of their numbers
    :param pictures: JPEG with the numbers drawn into it, and perhaps one of when it was over
    :raises ReplyInvalid: the model says something else
    :raises RemembrError: it is out of reach, or the time is over
    """
    listed = '\n'.join(f'{number}: {name}' for number, name in enumerate(names, start=1))
    shown = tuple(Picture(f'Picture {number}:', jpeg) for number, jpeg in enumerate(pictures, start=1))
    asked = Message('user', f'The robot: {deed}\n{listed}', images=shown)
    messages = (Message('system', prompt('which')), asked)
    reply = complete(chat, messages, run=run, call_timeout_s=CALL_S).content
    begin, end = reply.find('{'), reply.rfind('}')
    reply_object = read_object(reply[begin : end + 1]) or {}
    number, state = reply_object.get('object'), reply_object.get('state') or ''
    if isinstance(number, str) and number.strip().isdecimal():
        number = int(number)
    if type(number) is not int or not 0 <= number <= len(names) or not isinstance(state, str):
        raise ReplyInvalid(f'the model did not say which object it was: {reply[:200]!r}')
    state = ' '.join(state.split()).strip('.').lower()
    known = state and state not in ('unknown', 'none', 'n/a') and len(state) <= MAX_STATE
    return (number - 1 if number else None), state if known else ''
