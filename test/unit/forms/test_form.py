"""docs/interfaces.md has one table of all words, made from the forms."""

from pathlib import Path

from remembr_ros.forms.deeds import DeedsForm
from remembr_ros.forms.events import EventForm, GoForm, NoteForm
from remembr_ros.forms.faces import choices_of, kind_of
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.forms.form import Form, synonyms
from remembr_ros.forms.objects import ObjectsForm
from remembr_ros.forms.places import PlacesForm
from remembr_ros.forms.questions import AskForm, DayForm
from remembr_ros.forms.recall import RecallForm
from remembr_ros.forms.scope import SourceForm

PAGE = Path(__file__).resolve().parents[3] / 'docs' / 'interfaces.md'
COLUMNS: dict[str, type[Form]] = {
    'recall': RecallForm,
    'objects': ObjectsForm,
    'deeds': DeedsForm,
    'places': PlacesForm,
    'ask': AskForm,
    'day': DayForm,
    'forget': ForgetForm,
    'export': SourceForm,
    'remember': NoteForm,
    'event': EventForm,
    'go_to': GoForm,
}


def table() -> str:
    """Return the table: a row for each word, and what it means where that differs."""
    words = dict.fromkeys(name for form in COLUMNS.values() for name in form.model_fields)
    rows = ['| word | means | of | such as | not |', '|---|---|---|---|---|']
    for name in words:
        meanings: dict[str, list[str]] = {}
        for column, form in COLUMNS.items():
            if name in form.model_fields:
                meanings.setdefault(_meaning(form, name), []).append(column)
        for meaning, columns in meanings.items():
            form = COLUMNS[columns[0]]
            (example,) = form.model_fields[name].examples or ('',)
            others = ', '.join(synonyms(form, name))
            rows.append(f'| `{name}` | {meaning} | {", ".join(columns)} | `{example}` | {others} |')
    return '\n'.join(rows)


def _meaning(form: type[Form], name: str) -> str:
    field = form.model_fields[name]
    choices = choices_of(kind_of(field))
    return (field.description or '') + (f': {", ".join(choices)}' if choices else '')


def test_the_page_has_every_word() -> None:
    assert table() in PAGE.read_text(encoding='utf-8'), f'the table of {PAGE} is now:\n{table()}'
