import pytest

from remembr_ros.web.site import make_site
from test.unit.web.fake_backend import FakeBackend


def test_a_site_knows_its_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_site(FakeBackend(), zone='Asia/Tokyo').zone_name == 'Asia/Tokyo'
    monkeypatch.setenv('TZ', 'Europe/Berlin')
    assert make_site(FakeBackend()).zone_name == 'Europe/Berlin'
    monkeypatch.setenv('TZ', 'CET-1CEST')
    assert not make_site(FakeBackend()).zone_name
