import json

import pytest

from remembr_ros.errors import CaptionerFailed
from remembr_ros.printable import printable

OBEYED = ['\x1b[2J', '\x1b]0;title\x07', '\x9b31m', '\x9d8;;http://x\x9c', *'\r\b\x7f\x00\x0b\x0c']

TURNING = [chr(code) for code in (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))]


@pytest.mark.parametrize('obeyed', [*OBEYED, *TURNING])
def test_nothing_that_a_terminal_obeys_is_left(obeyed: str) -> None:
    shown = printable(f'a door{obeyed}open')
    assert shown.isprintable()
    assert shown.startswith('a door\\u')
    assert printable(shown) == shown
    text = json.dumps({'a': f'"{obeyed}'}, ensure_ascii=False)
    assert json.loads(printable(text)) == json.loads(text)


@pytest.mark.parametrize('text', ['', 'a\tb\nc', 'Straße 12 °C', 'שלום', '出口', '👩‍🔧', 'a\\b'])
def test_what_people_write_stays(text: str) -> None:
    assert printable(text) == text


def test_the_message_of_an_error_can_be_shown() -> None:
    assert str(CaptionerFailed('the server said \x1b[31mno')) == 'the server said \\u001b[31mno'
    assert str(CaptionerFailed()) == ''
