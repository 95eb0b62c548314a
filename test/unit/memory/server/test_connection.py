import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.server.connection import Connection


@pytest.fixture(autouse=True)
def no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('TOKEN', 'USER', 'PASSWORD'):
        monkeypatch.delenv(f'REMEMBR_MILVUS_{name}', raising=False)


@pytest.mark.parametrize(
    ('uri', 'address', 'encrypted', 'database'),
    [
        ('http://robot', 'robot:19530', False, ''),
        ('https://cloud.example', 'cloud.example:443', True, ''),
        ('https://cloud.example:19530/fleet', 'cloud.example:19530', True, 'fleet'),
        ('tcp://[::1]:5', '[::1]:5', False, ''),
        ('unix:/tmp/m.sock', 'unix:/tmp/m.sock', False, ''),
    ],
)
def test_a_uri_says_where_the_server_is(uri: str, address: str, encrypted: bool, database: str) -> None:
    connection = Connection(uri)
    assert (connection.address, connection.encrypted, connection.database) == (address, encrypted, database)


def test_secrets_come_from_where_they_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    uri = 'http://robot'
    assert Connection.from_environment(uri).credentials == ''
    monkeypatch.setenv('REMEMBR_MILVUS_USER', 'anna')
    monkeypatch.setenv('REMEMBR_MILVUS_PASSWORD', 'environment-secret')
    assert Connection.from_environment(uri).credentials == 'anna:environment-secret'
    monkeypatch.setenv('REMEMBR_MILVUS_TOKEN', 'key')
    assert Connection.from_environment(uri).credentials == 'key'
    assert Connection.from_environment(uri, user='bob', password='x').credentials == 'bob:x'
    assert Connection.from_environment('http://carl:y@robot').credentials == 'carl:y'


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('REMEMBR_MILVUS_TOKEN', 'environment-secret')
    connection = Connection.from_environment('http://anna:secret@robot:1/fleet', client_pem_path='')
    given = Connection('http://robot', token='secret', user='anna', password='secret')
    for text in (repr(connection), connection.shown, connection.server, repr(given), str(given)):
        assert 'secret' not in text
    assert (connection.shown, connection.server) == ('http://robot:1/fleet', 'http://robot:1')


@pytest.mark.parametrize(
    ('uri', 'options', 'message'),
    [
        ('memory.db', {}, 'is no server'),
        ('http://', {}, 'is no server'),
        ('http://[', {}, 'is no server'),
        ('http://robot', {'client_pem_path': 'a.pem'}, 'go together'),
        ('http://robot', {'ca_pem_path': 'a.pem', 'server_pem_path': 'b.pem'}, 'not both'),
        ('http://robot', {'timeout_s': float('nan')}, 'timeout'),
        ('http://robot', {'timeout_s': 0.0}, 'timeout'),
        ('http://robot', {'passwort': 'x'}, 'passwort: no option'),
    ],
)
def test_nonsense_is_refused(uri: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        Connection.from_environment(uri, **options)


def test_a_port_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidRequest, match='has no port'):
        _ = Connection('http://robot:99999').address
