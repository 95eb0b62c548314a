from remembr_ros.agent.model.other_words import is_purpose, same, things_for


def test_a_thing_has_other_names() -> None:
    assert same('elevator') == ('lift',)
    assert 'sofa' in same('couch')
    assert same('printer') == ()


def test_what_one_does_is_done_with_things() -> None:
    assert things_for('throw away') == 'trash can bin recycling'
    assert things_for('printer') == ''
    assert is_purpose('sit')
    assert not is_purpose('bench')
    assert {'bench', 'chair'} <= set(same('sit'))
