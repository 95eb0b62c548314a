import logging
import os
import stat
from pathlib import Path

import pytest
from fastapi import HTTPException
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.web.door.access import (
    ALL_FAILURES_PER_MINUTE,
    FAILURES_PER_MINUTE,
    MOST_SESSIONS,
    SESSION_S,
    Access,
    Right,
    new_tokens,
    read_tokens,
    refusal,
)

LOOK, ACT = 'look-token-of-16', 'act-token-of-16-'


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def access(clock: Clock) -> Access:
    return Access({LOOK: Right.LOOK, ACT: Right.ACT}, clock)


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / 'tokens'
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_token_allows_what_its_line_says(access: Access) -> None:
    assert access.wants_tokens
    assert access.of_token(LOOK, 'a') is Right.LOOK
    assert access.of_token(ACT, 'a') is Right.ACT
    assert access.of_token(ACT[:-1], 'a') is None
    assert access.of_token('', 'a') is None
    assert not Access().wants_tokens


@given(st.text())
def test_no_other_text_is_a_token(text: str) -> None:
    assert Access({LOOK: Right.LOOK}).of_token(text, 'a') is (Right.LOOK if text == LOOK else None)


def test_who_guesses_waits_and_others_do_not(access: Access, clock: Clock) -> None:
    for _ in range(FAILURES_PER_MINUTE):
        assert access.of_token('wrong', 'guesser') is None
    with pytest.raises(HTTPException, match='429') as failed:
        access.of_token(ACT, 'guesser')
    wait_s = int((failed.value.headers or {})['Retry-After'])
    assert wait_s == 60 // FAILURES_PER_MINUTE
    assert access.of_token(ACT, 'somebody else') is Right.ACT
    clock.now_s += wait_s
    assert access.of_token(ACT, 'guesser') is Right.ACT


def test_many_who_guess_together_wait_and_others_do_not(access: Access) -> None:
    for number in range(ALL_FAILURES_PER_MINUTE):
        assert access.of_token('wrong', f'guesser {number}') is None
    with pytest.raises(HTTPException, match='429'):
        access.of_token(ACT, 'guesser 0')
    assert access.of_token(ACT, 'somebody else') is Right.ACT


def test_a_wrong_token_is_logged_with_its_sender_and_without_itself(
    access: Access, caplog: pytest.LogCaptureFixture
) -> None:
    access.of_token('a-wrong-token-that-is-nearly-right', '10.0.0.3')
    assert '10.0.0.3' in caplog.text
    assert 'nearly-right' not in caplog.text


def test_a_session_lasts_until_it_is_over_or_ended(access: Access, clock: Clock) -> None:
    session, other = access.log_in(Right.ASK), access.log_in(Right.LOOK)
    assert access.of_session(session) is Right.ASK
    assert access.of_session(other) is Right.LOOK
    assert access.of_session('') is None
    access.log_out(other)
    access.log_out(other)
    assert access.of_session(other) is None
    clock.now_s += SESSION_S
    assert access.of_session(session) is None


def test_sessions_are_bounded(access: Access) -> None:
    first = access.log_in(Right.LOOK)
    sessions = {access.log_in(Right.LOOK) for _ in range(MOST_SESSIONS)}
    assert len(sessions) == MOST_SESSIONS
    assert access.of_session(first) is None
    assert all(access.of_session(session) is Right.LOOK for session in sessions)


def test_a_file_of_tokens_is_read(tmp_path: Path) -> None:
    text = f'# who may what\n\nlook {LOOK}  # for the screen in the hall\n\tact\t{ACT}\n'
    assert read_tokens(written(tmp_path, text)) == {LOOK: Right.LOOK, ACT: Right.ACT}


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('', 'no token in it'),
        ('# only a comment', 'no token in it'),
        ('look short', 'line 1: .*16 to 512 letters'),
        (f'\nlook {LOOK}\nact {LOOK}', 'line 3: .*no other line has'),
        (f'drive {LOOK}', "line 1: 'look', 'ask' or 'act'"),
        (LOOK, "line 1: 'look', 'ask' or 'act'"),
        (f'look {LOOK} {ACT}', "line 1: 'look', 'ask' or 'act'"),
        ('look sixteen:letters;or', 'line 1: .*16 to 512 letters'),
        ('look öööööööööööööööööööö', 'line 1: .*16 to 512 letters'),
        ('#' * 70_000, 'more than 65536 bytes'),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_without_showing_tokens(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message) as refused:
        read_tokens(written(tmp_path, text))
    assert LOOK not in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match='cannot be read'):
        read_tokens(tmp_path / 'none')
    with pytest.raises(InvalidRequest, match='cannot be read'):
        read_tokens(tmp_path)


def test_a_file_that_others_may_write_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match='chmod 600'):
        read_tokens(written(tmp_path, f'look {LOOK}', 0o602))


@pytest.mark.parametrize('mode', [0o640, 0o604])
def test_a_file_that_others_may_read_is_warned_of(
    tmp_path: Path, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert read_tokens(written(tmp_path, f'look {LOOK}', mode)) == {LOOK: Right.LOOK}
    assert 'chmod 600' in caplog.text


def test_new_tokens_are_the_owners_alone_and_work(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    before = os.umask(0)
    try:
        new_tokens(tmp_path / 'tokens')
        new_tokens(tmp_path / 'others')
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / 'tokens').stat().st_mode) == 0o600
    tokens = read_tokens(tmp_path / 'tokens')
    assert set(tokens.values()) == set(Right)
    assert all(len(token) >= 32 for token in tokens)
    assert not tokens.keys() & read_tokens(tmp_path / 'others').keys()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_new_tokens_replace_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, f'look {LOOK}')
    with pytest.raises(InvalidRequest, match='is there already'):
        new_tokens(path)
    (tmp_path / 'link').symlink_to(tmp_path / 'elsewhere')
    with pytest.raises(InvalidRequest, match='is there already'):
        new_tokens(tmp_path / 'link')
    with pytest.raises(InvalidRequest, match='cannot be written'):
        new_tokens(tmp_path / 'no folder' / 'tokens')
    assert path.read_text() == f'look {LOOK}'


def test_a_refusal_says_when_to_come_back_and_how_to_send_a_token() -> None:
    assert refusal(429, 'wait', 0.2).headers == {'Retry-After': '1'}
    assert refusal(401, 'log in').headers == {'WWW-Authenticate': 'Bearer'}
