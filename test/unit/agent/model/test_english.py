import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from remembr_ros.agent.model import english
from remembr_ros.agent.model.english import is_part, is_word, parse, parse_named, tags


def test_a_sentence_is_a_tree() -> None:
    tree = parse('Where did you leave the red cup?')
    (leave,) = tree.roots()
    assert (leave.lemma, leave.pos) == ('leave', 'VERB')
    (cup,) = tree.children(leave, 'dobj')
    assert [word.low for word in tree.below(cup)] == ['the', 'red', 'cup']
    assert tree.head(cup) is leave


def test_tags_stand_where_their_words_begin() -> None:
    tagged = tags('a man waits at the bus stop')
    assert (tagged[6], tagged[23]) == ('VBZ', 'NN')


@pytest.mark.parametrize('word', ['lift', 'fridges', 'mopped', 'corridor'])
def test_a_dictionary_has_words_and_their_forms(word: str) -> None:
    assert is_word(word)


@pytest.mark.parametrize('word', ['lockres', 'trolly', 'ascenseur'])
def test_a_dictionary_has_no_others(word: str) -> None:
    assert not is_word(word)


def test_a_word_may_be_of_several_parts_of_speech() -> None:
    assert is_part('stands', 'noun')
    assert is_part('stands', 'verb')
    assert not is_part('fridge', 'verb')


def test_names_are_one_noun_each() -> None:
    tree = parse_named('You put the teddy bear on the cars, and two red teddy bears.', {'red teddy bear'})
    assert [(word.text, word.tag) for word in tree if 'bear' in word.low] == [
        ('teddy bear', 'NN'),
        ('red teddy bears', 'NNS'),
    ]
    assert parse_named('You sleep.', ()) == parse('You sleep.')


def test_what_prepositions_are_about_and_which_words_tell() -> None:
    tree = parse('You could not put the cup on the table.')
    verb = next(word for word in tree if word.low == 'put')
    assert [word.low for word in tree.about(verb)] == ['table']
    assert tree.about(verb, 'from') == []
    assert [word.low for word in tree if word.tells] == ['could', 'not', 'put', 'cup', 'table']


def test_without_a_model_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(english, 'MODELS', ('no_such_model',))
    english.is_there.cache_clear()
    try:
        with caplog.at_level(logging.WARNING):
            assert not parse('A sentence that nobody has parsed before.').words
        assert 'python -m spacy download en_core_web_sm' in caplog.text
    finally:
        english.is_there.cache_clear()
        parse.cache_clear()


def test_what_is_read_is_not_kept_and_may_be_read_by_many_at_once() -> None:
    parse('A first sentence.')
    strings = english._model().vocab.strings
    before = len(strings)
    with ThreadPoolExecutor(4) as threads:
        trees = list(
            threads.map(parse, (f'Where is the qx{number}v of the zw{number}k?' for number in range(80)))
        )
    assert all(len(tree.words) == 8 for tree in trees)
    assert len(strings) == before
