import json

from remembr_ros.web.door.access import refusal
from remembr_ros.web.door.guard import refused


def test_it_is_said_in_json_with_when_to_come_back() -> None:
    answer = refused(refusal(429, 'wait \u2026 a "moment"', 0.2), '/api')
    assert answer.status_code == 429
    assert json.loads(answer.body) == {'error': 'wait \u2026 a "moment"'}
    assert answer.headers['content-type'] == 'application/json'
    assert answer.headers['content-length'] == str(len(answer.body))
    assert answer.headers['retry-after'] == '1'


def test_who_needs_a_token_is_told_how_to_send_it() -> None:
    assert refused(refusal(401, 'log in'), '/api').headers['www-authenticate'] == 'Bearer'
