import json
from urllib.parse import quote

import pytest

from remembr_ros.printable import redacted, shown_url, url_secrets

SECRET = 'Tr0ub4dor&3'


@pytest.mark.parametrize(
    ('url', 'shown'),
    [
        ('http://robot:8000/v1', 'http://robot:8000/v1'),
        ('http://anna:Tr0ub4dor@robot:8000/v1', 'http://robot:8000/v1'),
        ('https://Tr0ub4dor@robot/v1', 'https://robot/v1'),
        ('http://anna:Tr0ub4dor@[::1]:8000/v1', 'http://[::1]:8000/v1'),
        ('http://anna:p@Tr0ub4dor@robot/v1', 'http://robot/v1'),
        ('http://anna:p/Tr0ub4dor@robot/v1', 'http://robot/v1'),
        ('http://anna:Tr0ub4dor//x@robot/v1', 'http://robot/v1'),
        ('http://anna:p?Tr0ub4dor@robot/v1', 'http://***'),
        ('http://anna:Tr0ub4dor#@robot/v1', 'http://***'),
        ('http://robot/v1?api_key=Tr0ub4dor', 'http://robot/v1?***'),
        ('http://robot/v1#Tr0ub4dor', 'http://robot/v1?***'),
        ('anna:Tr0ub4dor@robot:8000/v1', 'robot:8000/v1'),
        ('http://anna:Tr0ub4dor@[::1', 'http://[::1'),
        ('//anna:Tr0ub4dor@robot', '//robot'),
        ('ollama', 'ollama'),
        ('', ''),
        ('unix:/tmp/m.sock', 'unix:/tmp/m.sock'),
    ],
)
def test_a_url_is_shown_without_what_lets_somebody_in(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_the_secrets_of_a_url_are_its_password_and_what_its_query_holds() -> None:
    assert url_secrets('http://anna:a%2Fb@robot/v1?key=k1&n=') == {'a%2Fb', 'a/b', 'k1'}
    assert url_secrets('http://token@robot') == {'token'}
    assert url_secrets('http://robot/v1') == url_secrets('http://[::1') == url_secrets('') == set()


@pytest.mark.parametrize('escaped', [SECRET, quote(SECRET), json.dumps(f'a"\n{SECRET}'), repr({'k': SECRET})])
def test_a_known_secret_is_found_however_it_is_escaped(escaped: str) -> None:
    assert 'Tr0ub4dor' not in redacted(f'you sent {escaped}', [SECRET])


def test_a_secret_with_quotes_is_found_in_json_and_in_python() -> None:
    secret = 'a"b\\c\'d'
    for said in (json.dumps({'key': secret}), repr({'got': secret}), quote(secret, safe='')):
        assert redacted(said, [secret]).count('***') == 1


@pytest.mark.parametrize(
    'said',
    [
        'Authorization: Bearer hunter2',
        'authorization=Basic aHVudGVyMg==',
        "{'headers': {'Authorization': 'Bearer hunter2', 'Host': 'robot'}}",
        '{\\"authorization\\": \\"Bearer hunter2\\"}',
        '{"authorization": ["Token hunter2"]}',
        'Proxy-Authorization: Digest hunter2',
        'x-api-key: hunter2',
        'api-key: "hunter2"',
        '?api_key=hunter2&model=x',
        'access_token=hunter2',
        'the token is Bearer hunter2',
        'you sent Basic aHVudGVyMg==',
        'Incorrect API key provided: sk-hunter2hunter2',
        'nvapi-hunter2hunter2 is unknown',
        'password: hunter2',
    ],
)
def test_what_looks_like_a_credential_is_masked(said: str) -> None:
    shown = redacted(said)
    assert '***' in shown
    assert 'hunter2' not in shown
    assert 'aHVudGVy' not in shown


@pytest.mark.parametrize(
    'said',
    [
        'Basic information is missing',
        'max_tokens is too large: 5000',
        'the model llama-3 does not exist',
        'the key is missing',
        'unauthorized',
        'a task-oriented model',
        'Missing bearer or basic authentication in header',
        'the bearer token is missing',
        'hf_hub_download failed for sk-learn_estimators',
    ],
)
def test_what_a_server_explains_is_left(said: str) -> None:
    assert redacted(said, ['ab']) == said
