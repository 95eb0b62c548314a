import pytest

from remembr_bench.evaluation.findingdory.templates import TEMPLATES
from remembr_bench.evaluation.findingdory.wordings import FINDINGDORY, NEEDLES, in_papers_words


@pytest.mark.parametrize('template', TEMPLATES, ids=lambda template: template.text)
def test_each_template_has_other_words_with_the_same_gaps(template):
    papers = in_papers_words(template.text, FINDINGDORY)
    assert papers.startswith(('Navigate to ', 'Revisit all the '))
    assert not [
        word
        for word in ('handle', ' used ', 'Go to', 'right after')
        if word in papers.replace('is used for', '')
    ]
    assert sorted(part.partition('}')[0] for part in papers.split('{')[1:]) == sorted(
        part.partition('}')[0] for part in template.text.split('{')[1:]
    )
    assert papers.endswith('.')


@pytest.mark.parametrize(
    ('ours', 'papers'),
    [
        ('Go to the receptacle farthest from here that you used yesterday.',
         'Navigate to the receptacle that you interacted with yesterday '
         'which is the farthest from your current location.'),
        ('Go to the object that you handled right after the red laptop yesterday.',
         'Navigate to the object that you interacted with immediately after red laptop yesterday.'),
        ('Go to an object that you handled yesterday and that is purple.',
         'Navigate to any object that you interacted with yesterday which is purple colored.'),
        ('Go to the object that you handled between the red cup and the blue book yesterday.',
         'Navigate to the object that you interacted with between the interactions '
         'with red cup and blue book yesterday.'),
    ],
)  # fmt: skip
def test_instructions_are_worded_as_in_the_paper(ours, papers):
    assert in_papers_words(ours, FINDINGDORY) == papers


@pytest.mark.parametrize(
    ('ours', 'papers'),
    [
        ('Did you ever see a red ball?', 'Was there a red ball?'),
        ('Have you seen a red ball anywhere?', 'Was there a red ball?'),
        ('Did you see both a red ball and a hat?', 'Were both red ball and hat there?'),
        ('Did you leave the drawer open?', 'Was the drawer open?'),
        ('Is the fridge closed?', 'Was the fridge closed?'),
        ('Is the red cup on the table?', 'Is red cup in table?'),
        ('What did you slice?', 'Which object did you slice?'),
        ('Did you switch on the lamp?', 'Did you switch on lamp?'),
        ('From where did you pick the red cup?', 'Where did you move red cup from?'),
        ('Where did you take the red cup from?', 'Where did you move red cup from?'),
        (
            'Where was the red cup before you put it on the table?',
            'Where was red cup before you moved it to table?',
        ),
        ('Where can I find the red cup?', 'Where did you move red cup?'),
        ('How often did you move the red cup?', 'How many times was red cup moved?'),
        ('What did you put in the box?', 'What objects did you place in box?'),
        ('What is on the tray?', 'What objects are on tray?'),
    ],
)
def test_questions_are_worded_as_in_the_paper(ours, papers):
    assert in_papers_words(ours, NEEDLES, first=True) == papers
