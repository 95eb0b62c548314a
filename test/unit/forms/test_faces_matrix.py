"""Every field of every form arrives through every face: the same, and the same error in the face's words."""

import argparse
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from fastapi import Body, Depends, FastAPI, Query
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.agent.llm.arguments import arguments_of
from remembr_ros.agent.llm.call_context import CallContext
from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.planner import Run
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.deeds import DeedsForm
from remembr_ros.forms.events import EventForm, GoForm, NoteForm
from remembr_ros.forms.faces import (
    add_options,
    fill_message,
    flag,
    from_message,
    from_options,
    keywords,
    kind_of,
    tool_schema,
)
from remembr_ros.forms.fields import Position
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.forms.form import Form, read
from remembr_ros.forms.objects import ObjectsForm
from remembr_ros.forms.places import PlacesForm
from remembr_ros.forms.questions import AskForm, DayForm
from remembr_ros.forms.recall import RecallForm
from remembr_ros.forms.scope import SourceForm
from remembr_ros.web.api.errors import add_handlers
from remembr_ros.web.api.request_scope import known_only
from remembr_ros.web.mcp.server import given_plain
from test.unit.agent.listed_recall import ListedRecall

ASKED: list[type[Form]] = [RecallForm, ObjectsForm, DeedsForm, PlacesForm, SourceForm, DayForm]
BODIES: list[type[Form]] = [AskForm, ForgetForm, NoteForm, EventForm, GoForm]
FORMS = [*ASKED, *BODIES]
NEEDED = {AskForm: {'question': 'Where?'}, NoteForm: {'text': 'a note'}}
"""What a form cannot do without."""
WRONG: dict[str, Any] = {
    'limit': 'many', 'nth': 'one', 'radius': '-1', 'yaw': 'left', 'position': 'kitchen', 'near': 'kitchen',
    'place': '1, 2', 'time': 'noonish', 'changed_since': 'noonish', 'source': 'nobody', 'relation': 'above',
    'order': 'prettiest', 'never': 'kind', 'outcome': 'well', 'travelled': 'far', 'begin': 'soon',
    'end': 'soon',
}  # fmt: skip
"""By the name of a field, a text that makes no sense for it."""


def example(form: type[Form], name: str) -> Any:
    (value,) = form.model_fields[name].examples or ()
    return value


def wanted(form: type[Form], name: str, value: Any) -> Form:
    return read(form, NEEDED.get(form, {}) | {name: value})


def by_options(form: type[Form], given: dict[str, Any]) -> Form:
    parser = argparse.ArgumentParser()
    add_options(parser, form)
    words: list[str] = []
    for name, value in given.items():
        values = [] if value is True else value if isinstance(value, list) else [value]
        words += [flag(name), *map(str, values)]
    return from_options(form, parser.parse_args(words))


def by_keywords(form: type[Form], given: dict[str, Any]) -> Form:
    class Asked:
        @keywords(form)
        def ask(self, asked: Form) -> Form:
            """Ask."""
            return asked

    answer: Form = Asked().ask(**given)
    return answer


def by_address(form: type[Form], given: dict[str, Any]) -> Form:
    app, seen = FastAPI(dependencies=[Depends(known_only)]), list[Form]()
    add_handlers(app)

    @app.get('/asked')
    def ask(query: Annotated[form, Query()]) -> None:  # type: ignore[valid-type]
        seen.append(query)

    params = {name: ','.join(map(str, v)) if isinstance(v, list) else v for name, v in given.items()}
    return answered(TestClient(app).get('/asked', params=params), seen)


def by_body(form: type[Form], given: dict[str, Any]) -> Form:
    app, seen = FastAPI(), list[Form]()
    add_handlers(app)

    @app.post('/asked')
    def ask(body: Annotated[form, Body()]) -> None:  # type: ignore[valid-type]
        seen.append(body)

    return answered(TestClient(app).post('/asked', json=given), seen)


def answered(response: Any, seen: list[Form]) -> Form:
    if response.status_code != 200:
        assert response.status_code == 400
        raise InvalidRequest(response.json()['error'])
    return seen[0]


def by_agent(form: type[Form], given: dict[str, Any]) -> Form:
    schemas = tool_schema(form)['properties']
    assert schemas.keys() >= given.keys()
    lists = [name for name, schema in schemas.items() if schema['type'] == 'array']
    return read(form, given_plain({**given, **dict.fromkeys(schemas.keys() - given.keys())}, lists))


def by_message(form: type[Form], given: dict[str, Any]) -> Form:
    """Through a request as a client fills it in, and a node reads it."""
    pytest.importorskip('rclpy', reason='needs ROS 2: make setup')
    from remembr_msgs.action import Ask
    from remembr_msgs.srv import Day, FindDeeds, FindObjects, Forget, Recall

    kinds: dict[Any, Any] = {RecallForm: Recall.Request, ObjectsForm: FindObjects.Request}
    kinds |= {
        DeedsForm: FindDeeds.Request,
        ForgetForm: Forget.Request,
        DayForm: Day.Request,
        AskForm: Ask.Goal,
    }
    request = kinds[form]()
    fill_message(read(form, given), request)
    return from_message(form, request)


def by_tool(form: type[Form], given: dict[str, Any]) -> Form:
    context = CallContext(Question('Where?', 10**18), ListedRecall([]), Run(deadline=float('inf')))
    call = arguments_of(form, 'Asked', 'Ask.', *form.model_fields).model_validate(given)
    return context.form(form, call)


OF_A_QUESTION = ('near', 'radius', 'place', 'robot', 'map')

FACES: list[tuple[Callable[[type[Form], dict[str, Any]], Form], list[type[Form]]]] = [
    (by_options, FORMS),
    (by_keywords, FORMS),
    (by_address, ASKED),
    (by_body, FORMS),
    (by_agent, FORMS),
    (by_message, [RecallForm, ObjectsForm, DeedsForm, ForgetForm, DayForm, AskForm]),
    (by_tool, [RecallForm, ObjectsForm, DeedsForm]),
]


@pytest.mark.parametrize('form', FORMS, ids=lambda form: form.__name__)
def test_every_field_says_what_it_is_with_an_example(form: type[Form]) -> None:
    for name, field in form.model_fields.items():
        assert field.description, name
        assert wanted(form, name, example(form, name)).model_fields_set == {*NEEDED.get(form, {}), name}


@pytest.mark.parametrize('face', [face for face, _ in FACES], ids=lambda face: face.__name__)
def test_every_field_arrives_through_every_face(face: Callable[..., Form]) -> None:
    (forms,) = [forms for other, forms in FACES if other is face]
    lost = []
    for form in forms:
        for name in form.model_fields:
            value = example(form, name)
            if face is by_tool and (name in OF_A_QUESTION or value in ('docked', 'picked')):
                continue  # what a question knows: see test_a_tool_narrows_down_by_the_same_words
            found = face(form, NEEDED.get(form, {}) | {name: value})
            if getattr(found, name) != getattr(wanted(form, name, value), name):
                lost.append(f'{form.__name__}.{name}: {getattr(found, name)!r}')
    assert lost == []


def test_a_tool_narrows_down_by_the_same_words() -> None:
    given = {'near': [1, 2, 0], 'radius': 3.0, 'robot': 'anna', 'map': 'floor1'}
    found = by_tool(RecallForm, given | {'text': 'cup'})
    assert found == read(RecallForm, given | {'text': 'cup', 'limit': found.limit})


@pytest.mark.parametrize('name', sorted(WRONG))
def test_what_makes_no_sense_is_refused_alike_by_every_face(name: str) -> None:
    for form in FORMS:
        if name not in form.model_fields:
            continue
        given = NEEDED.get(form, {}) | {name: WRONG[name]}
        with pytest.raises(InvalidRequest) as expected:
            read(form, given)
        assert str(expected.value).startswith(name)
        for face, forms in FACES:
            if form not in forms or face in (by_message, by_tool):  # a message has types, a tool words
                continue
            if face is by_options and kind_of(form.model_fields[name]) == Position:
                continue  # takes three values
            with pytest.raises(InvalidRequest) as refused:
                face(form, given)
            said = str(refused.value)
            assert said.replace(flag(name), name, 1) == str(expected.value), face


@pytest.mark.parametrize('form', FORMS, ids=lambda form: form.__name__)
def test_another_word_for_a_field_is_refused_with_the_right_one(form: type[Form]) -> None:
    for name, field in form.model_fields.items():
        for other in (field.json_schema_extra or {})['synonyms']:  # type: ignore[index,call-overload]
            if other in form.model_fields:
                continue
            for face in (by_keywords, by_body, by_agent) if other != 'class' else ():
                if face is by_agent:
                    given: dict[str, Any] = {other: example(form, name)}
                    with pytest.raises(InvalidRequest, match=f"'{other}': it is called {name}"):
                        read(form, given)
                    continue
                with pytest.raises(InvalidRequest, match=f"'{other}': it is called {name}"):
                    face(form, NEEDED.get(form, {}) | {other: example(form, name)})


@pytest.mark.parametrize('form', FORMS, ids=lambda form: form.__name__)
def test_the_command_line_understands_another_word(form: type[Form]) -> None:
    for name, field in form.model_fields.items():
        others = (field.json_schema_extra or {})['synonyms']  # type: ignore[index,call-overload]
        parser = argparse.ArgumentParser()
        add_options(parser, form)
        known = parser._option_string_actions
        for other in others:
            if len(other) > 1 and other not in form.model_fields:
                assert known[flag(other)].dest == name


def test_null_is_not_given_by_any_face() -> None:
    for form in FORMS:
        needed = NEEDED.get(form, {})
        nothing = dict.fromkeys(form.model_fields.keys() - needed.keys())
        for face in (by_keywords, by_body, by_agent):
            assert face(form, needed | nothing) == read(form, needed)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=300)
@given(form=st.sampled_from(FORMS), data=st.data())
def test_whatever_is_given_is_read_or_refused_in_words(form: type[Form], data: st.DataObject) -> None:
    names = st.sampled_from([*form.model_fields, 'room', 'nonsense'])
    given_ = data.draw(st.dictionaries(names, ANYTHING, max_size=4))
    try:
        filled = read(form, given_)
        for ask in ('query', 'scope', 'conditions', 'deed'):
            if hasattr(filled, ask):
                getattr(filled, ask)()
        refused = 'no'
    except InvalidRequest as error:
        refused = str(error)
    assert refused
    assert 'pydantic' not in refused
