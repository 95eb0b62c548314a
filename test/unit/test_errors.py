from remembr_ros.chat_endpoint import ConnectionLost
from remembr_ros.errors import ChatUnavailable, RemembrError


def test_an_error_is_named_as_those_who_catch_it_know_it() -> None:
    assert ConnectionLost('no route').kind == ChatUnavailable('no route').kind == 'ChatUnavailable'
    assert RemembrError().kind == 'RemembrError'
