from pathlib import Path
from typing import Any

import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.web.door.door import Door, client_of, is_loopback


@pytest.mark.parametrize('host', ['127.0.0.1', '127.0.0.2', '::1', 'localhost'])
def test_this_machine_alone_needs_no_tokens(host: str) -> None:
    assert is_loopback(host)
    assert Door(host).token_file is None


@pytest.mark.parametrize(
    'host', ['0.0.0.0', '::', '192.168.1.4', 'fe80::1', 'robot.local', '127.0.0.1.example']
)
def test_any_other_address_needs_tokens(host: str) -> None:
    with pytest.raises(InvalidRequest, match=r'--new-tokens FILE'):
        Door(host)
    assert Door(host, token_file=Path('tokens')).host == host


@pytest.mark.parametrize(
    ('given', 'message'),
    [
        ({'host': ''}, 'no address'),
        ({'port': -1}, 'no port -1'),
        ({'port': 65536}, 'no port 65536'),
        ({'key': Path('key.pem')}, 'no certificate'),
        ({'names': ('robot.example',)}, 'file of tokens'),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        Door(**given)


@pytest.mark.parametrize(
    ('address', 'client'),
    [
        ('10.0.0.3', '10.0.0.3'),
        ('::ffff:10.0.0.3', '10.0.0.3'),
        ('::1', '::1'),
        ('2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'),
        ('fe80::1%eth0', 'fe80::/64'),
        ('testclient', 'testclient'),
    ],
)
def test_who_has_many_addresses_is_one_client(address: str, client: str) -> None:
    assert client_of(address) == client
