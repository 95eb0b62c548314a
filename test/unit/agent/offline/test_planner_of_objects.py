"""Questions about objects, in as many phrasings as people have, asked of a room with a table and a fridge."""

import pytest

from test.unit.agent.in_short import assert_told, rows
from test.unit.agent.offline.objects.test_object_answers import ask

SOMEWHERE = """
What's on the table right now?                     | text book, cup      | On the table: a green book
Can you tell me what is on top of the brown table? | text book, cup      | On the brown table:
Which things are lying on the table?               | text book, cup      | On the table:
Which cup is on the table?                         | text cup            | On the table: a red cup.
What else is in the fridge?                        | text milk           | In the fridge:
What do you see inside the fridge?                 | text milk           | In the fridge:
What do you see on the table?                      | text book, cup      | On the table:
List everything in the fridge.                     | text milk           | In the fridge:
what objects are there underneath the table        | (perhaps) text bowl | Under the table:
What stands beside the green book?                 | text cup            | Next to the green book:
What is near the book?                             | text cup            | Next to the book:
What other things are on the table?                | text book, cup      | On the table:
Which objects that are on the table do you see?    | text book, cup      | On the table:
Is the bowl atop the table?                        | no bowl             | is under the table, as far as I
Where is the cup on the table?                     | at cup
Where is the cup on the fridge?                    | text fridge
When did you last see the cup on the table?        | when cup
Is the red cup still on the table?                 | yes cup
Is the red cup still on the fridge?                | no cup
Do you see a book next to the cup?                 | yes book
Anything on the table?                             | yes book
Anything on the bowl?                              | no bowl
"""

OF_ONE = """
Where is the red cup?                     | at cup
Take me to the nearest cup                | at cup
Where did the plant use to be?            | (perhaps) at plant | was before: at (2.0, 3.0)
Where was the plant originally?           | at plant           | was before: at (2.0, 3.0)
What was the previous place of the plant? | at plant           | was before: at (2.0, 3.0)
Where was the plant moved to?             | at plant           | last seen: at (3.0, 3.0)
Is the cup still in the same place?       | (perhaps) yes cup
Is the cup still where it was?            | yes cup
Is the vase still where it was?           | no vase
Has the vase been taken away?             | yes vase
Did somebody take the vase?               | yes vase
Did somebody take the cup?                | no cup
Did anyone move the plant?                | yes plant
Did anyone move the cup?                  | no cup             | has not been moved, as far as I know
What colour is the vase?                  | text vase          | Vase: blue.
What's the color of the vase?             | text vase          | Vase: blue.
What happened to the plant?               | text plant         | moved
How many cups are there?                  | text cup           | one is known
"""

CHANGES = """
What has been taken away since 22:14? | text vase | gone: a blue vase.
What has been taken away since 2023-11-15 00:30? | text book | nothing is known to be gone
What changed since yesterday? | text plant, vase, book ... | seen for the first time: a green book
What has changed since 2023-11-15 00:30? | text book | nothing is known to be changed
Has anything changed since you were last here? | text plant, vase, clock | 22:14:20 UTC, moved: a plant
What is different from last time? | (perhaps) text plant, vase, clock | 22:14:20 UTC, moved: a plant
What is missing since yesterday? | text vase | gone: a blue vase.
What was moved since 2023-11-14 22:00? | text plant | moved: a plant.
Is anything new here? | text clock | seen for the first time: a clock.
"""

OTHERS = """
What did you do today?                | text book          | Wednesday, 2023-11-15
What is written on the table?         | text table         | Nothing could be read there.
Where did you leave the cup?          | (perhaps) at cup
How often did you pass the cup?       | (perhaps) text cup | seen once
Who was in the fridge?                | perhaps text fridge
What happened before you saw the cup? | perhaps not seen
"""


@pytest.mark.parametrize(('text', 'short', 'said'), rows(SOMEWHERE + OF_ONE + CHANGES + OTHERS))
def test_a_question_is_answered(text: str, short: str, said: str) -> None:
    assert_told(ask(text), short, said)


@pytest.mark.parametrize(
    'text',
    [
        'What do you see?',
        'What do you currently see?',
        'What can you see at the moment?',
        'Can you tell me what you see now?',
        'What objects can you see?',
        'What are you looking at?',
        'What is in front of you now?',
        "What's in view?",
    ],
)
def test_what_is_in_view(text: str) -> None:
    assert ask(text).text.startswith('No object in view for 59 minutes; seen last: ')


@pytest.mark.parametrize(
    'text',
    [
        'What did you see yesterday?',
        'What did you see?',
        'What was in front of you?',
        'What have you seen?',
        'What can you see here?',
        'What do you see in front of the fridge?',
        'Which signs do you see?',
    ],
)
def test_what_was_or_is_somewhere_is_not_what_is_in_view(text: str) -> None:
    assert 'n view' not in ask(text).text
