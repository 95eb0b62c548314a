"""Every instruction and question a second time, in words as the papers have them.

What is asked stays the same. After the meanings of table 5 of FindingDory (arXiv 2506.15635) and table 3 of
infinity-THOR (arXiv 2505.16928): things are interacted with, names have no articles, clauses come last.
"""

import re
from collections.abc import Sequence

OURS, PAPERS = 'ours', "papers'"
Rules = Sequence[tuple[str, str]]

FINDINGDORY: Rules = (
    ('Go to all', 'Revisit all the'),
    ('Go to', 'Navigate to'),
    (r'(the \w+) farthest from here (that you .+?)( yesterday)?\.',
     r'\1 \2\3 which is the farthest from your current location.'),
    (r'and that is shaped like an? (.+)\.', r'which is \1 shaped.'),
    (r'and that is (made of|used for|printed with) ', r'which is \1 '),
    (r'and that is (.+)\.', r'which is \1 colored.'),
    (r'right (after|before) you (?:picked|placed) the (.+?)( yesterday)?\.',
     r'immediately \1 the interactions with \2\3.'),
    (r'right (after|before) the ', r'immediately \1 '),
    (r'interactions (after|before) the ', r'interactions \1 '),
    (r'between the (.+) and the ', r'between the interactions with \1 and '),
    (r'room where you (picked|placed) the (.+?)( yesterday)?\.', r'room that you \1 the \2 in\3.'),
    ('room where you stayed the longest', 'room in which you spent the most time'),
    (r'that took you (?:the )?(\w+)(?: time)? to', r'which took the \1 time to'),
    (r'from which you picked the (.+?)( yesterday)?\.', r'that you picked the \1 from\2.'),
    (r'(?<=to )an? ', 'any '),
    ('yesterday, in the order in which you did', 'yesterday in the specific order in which you did so'),
    (r'you (?:handled|used)\b', 'you interacted with'),
    (r'did not (?:handle|use)\b', 'did not interact with'),
)  # fmt: skip
NEEDLES: Rules = (
    (r'^Did you see both an? (.+) and an? (.+)\?', r'Were both \1 and \2 there?'),
    (r'^(?:Did you (?:ever )?see|Have you seen) (.+?)(?: anywhere)?\?', r'Was there \1?'),
    (r'^What did you leave open\?', 'What was left open?'),
    (r'^(?:Is|Did you leave) the (.+) (open|closed)\?', r'Was the \1 \2?'),
    (r'^Is the (.+) (?:in|on) the (.+)\?', r'Is \1 in \2?'),
    (r'^What did you put (in|on) the (.+)\?', r'What objects did you place \1 \2?'),
    (r'^What is (in|on) the (.+)\?', r'What objects are \1 \2?'),
    (r'^What did you (.+)\?', r'Which object did you \1?'),
    (
        r'^(?:From where did you pick|Where did you take) the (.+?)(?: from)?\?',
        r'Where did you move \1 from?',
    ),
    (
        r'^Where was the (.+) before you put it (?:in|on) the (.+)\?',
        r'Where was \1 before you moved it to \2?',
    ),
    (r'^Where (?:is|can I find) the (.+?)(?: now)?\?', r'Where did you move \1?'),
    (r'^How (?:many times|often) did you move the (.+)\?', r'How many times was \1 moved?'),
    (r'^Did you (.+?) the (.+)\?', r'Did you \1 \2?'),
)


def in_papers_words(text: str, rules: Rules, *, first: bool = False) -> str:
    """Return a text in other words: by each rule in turn, or by the first that fits alone."""
    for ours, papers in rules:
        text, changed = re.subn(ours, papers, text)
        if changed and first:
            break
    return text
