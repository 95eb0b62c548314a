import time
from email.utils import formatdate

import pytest

from remembr_ros.chat_endpoint import FIRST_S, LONGEST_S, may_help, wait_s


def test_waits_are_spread_over_a_bound_that_doubles() -> None:
    for attempt, most in ((0, FIRST_S), (1, 2 * FIRST_S), (3, 8 * FIRST_S), (50, LONGEST_S)):
        waits = [wait_s(attempt, None) for _ in range(200)]
        assert 0.0 <= min(waits) < 0.2 * most
        assert 0.8 * most < max(waits) <= min(most, LONGEST_S)


def test_the_server_may_ask_for_more() -> None:
    assert wait_s(0, '7') == 7.0
    assert wait_s(0, '2.5') == 2.5
    date = formatdate(time.time() + 100.0, usegmt=True)
    assert wait_s(0, date) == pytest.approx(100.0, abs=2.0)


@pytest.mark.parametrize(
    'header', ['', 'soon', '-5', 'nan', formatdate(0.0, usegmt=True), '99 Foo 99999', 'Mon, 99 Jan 2040']
)
def test_a_header_without_sense_asks_for_nothing(header: str) -> None:
    assert 0.0 <= wait_s(0, header) <= FIRST_S


@pytest.mark.parametrize(
    ('status', 'expected'),
    [(None, True), (429, True), (500, True), (502, True), (503, True), (529, True)]
    + [(status, False) for status in (400, 401, 403, 404, 408, 409, 422, 501)],
)
def test_only_what_may_pass_is_tried_again(status: int | None, expected: bool) -> None:
    assert may_help(status) is expected
