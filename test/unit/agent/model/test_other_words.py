from remembr_ros.agent.model.other_words import is_purpose, other_stems, things_for


def test_a_thing_has_other_names() -> None:
    assert other_stems('elevator') == ('lift',)
    assert 'sofa' in other_stems('couch')
    assert other_stems('printer') == ()


def test_what_one_does_is_done_with_things() -> None:
    assert things_for('throw away') == 'trash can bin recycling'
    assert things_for('printer') == ''
    assert is_purpose('sit')
    assert not is_purpose('bench')
    assert {'bench', 'chair'} <= set(other_stems('sit'))
