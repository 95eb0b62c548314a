"""A language model that chooses what to do, turn by turn."""

from collections.abc import Sequence

from remembr_bench.evaluation.tasks.robot import Option
from remembr_ros.agent.chat.client import Call, ChatClient, Message, Picture, Tool
from remembr_ros.agent.chat.loose_json import read_object
from remembr_ros.agent.llm.reply_text import MAX_REPLY, calls_in_text
from remembr_ros.agent.model.answer import Ledger
from remembr_ros.errors import ReplyInvalid

KEPT = 12  # turns that it is shown again
SHOWN = 1_500  # characters of each of them

_CHOOSE = Tool(
    'choose',
    'Choose one of the options.',
    {
        'type': 'object',
        'properties': {
            'option': {'type': 'integer', 'description': 'its number'},
            'words': {'type': 'string', 'description': 'what goes with it, where it takes words'},
        },
        'required': ['option'],
    },
)


class Chooser:
    """Shows a language model what is going on and what can be done, and takes its choice.

    :param system: what it is told before all
    :ivar timeout_s: for a choice [s]
    :ivar ledger: what its calls have taken
    """

    def __init__(self, chat: ChatClient, system: str, timeout_s: float) -> None:
        self._chat, self._system, self.timeout_s = chat, Message('system', system), timeout_s
        self._turns: list[Message] = []
        self.ledger = Ledger()

    def choose(self, told: str, options: Sequence[Option], picture: bytes = b'') -> tuple[Option, str]:
        """Return an option and the words that go with it.

        :param told: what it has to know now
        :param picture: what is seen, JPEG; empty: it is told in words
        :raises ReplyInvalid: it chose none; the message helps the model
        :raises ChatUnavailable: there is no reply
        """
        lines = [
            f'{number}. {option.text}{f" (words: {option.takes})" if option.takes else ""}'
            for number, option in enumerate(options, start=1)
        ]
        shown = '\n'.join([told, '', 'Options:', *lines])
        images = (Picture('', picture),) if picture else ()
        messages = [self._system, *self._turns[-2 * KEPT :], Message('user', shown, images=images)]
        call = Call(messages, [_CHOOSE], 'choose', timeout_s=self.timeout_s, ledger=self.ledger)
        reply = self._chat.complete(call)
        calls = reply.tool_calls or calls_in_text(reply.content)
        given = read_object(calls[0].arguments[:MAX_REPLY]) if calls else None
        number, words = (given or {}).get('option'), str((given or {}).get('words') or '')
        self._turns.append(Message('user', told[:SHOWN]))
        if type(number) is not int or not 0 < number <= len(options):
            self._turns.append(Message('assistant', '(nothing)'))
            raise ReplyInvalid(f'no option was chosen: call choose with a number from 1 to {len(options)}')
        option = options[number - 1]
        self._turns.append(Message('assistant', f'{option.text} {words}'[:SHOWN]))
        return option, words
