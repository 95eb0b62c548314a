import json

from remembr_ros.web.door.refusal import Refusal


def test_it_is_said_in_json_with_when_to_come_back() -> None:
    refusal = Refusal(429, 'wait \u2026 a "moment"', 0.2)
    assert json.loads(refusal.body) == {'error': 'wait \u2026 a "moment"'}
    assert dict(refusal.headers) == {
        b'content-type': b'application/json',
        b'content-length': b'%d' % len(refusal.body),
        b'retry-after': b'1',
    }


def test_who_needs_a_token_is_told_how_to_send_it() -> None:
    assert dict(Refusal(401, 'log in').headers)[b'www-authenticate'] == b'Bearer'
