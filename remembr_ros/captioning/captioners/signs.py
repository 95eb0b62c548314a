"""Groups lines of text found in images into signs, cleans them, and merges them across frames."""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

Corner = tuple[float, float]
MIN_CONFIDENCE = 0.85  # of a line that is believed
MIN_CONFIDENCE_SHORT = 0.9  # with fewer than SHORT letters and digits: furniture may look like two
SHORT = 4
MIN_CHARACTERS = 2  # letters and digits of a sign; single ones are nearly always noise
MIN_CUT = 5  # letters of a word on a sign never seen whole: 'CAFET' still tells something, 'RO' is noise
MAX_LINES = 4  # a sign with more lines is a page: its lines stay separate
MAX_TILT = math.radians(15.0)  # between lines of one sign [rad]
_STRAY = ' \t\r\n.,:;_-\u2013\u2014·•|~^`\'"*=<>\\/←→↑↓'


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text in an image.

    :param text: as read
    :param confidence: 0 to 1
    :param corners: top left, top right, bottom right, bottom left as the text runs [px]
    :param cut: it touches the border of the image, so that a part may be missing
    """

    text: str
    confidence: float
    corners: tuple[Corner, Corner, Corner, Corner]
    cut: bool = False

    @property
    def centre(self) -> Corner:
        return sum(x for x, _ in self.corners) / 4.0, sum(y for _, y in self.corners) / 4.0

    @property
    def width(self) -> float:
        a, b, c, d = self.corners
        return (math.dist(a, b) + math.dist(d, c)) / 2.0

    @property
    def height(self) -> float:
        a, b, c, d = self.corners
        return (math.dist(a, d) + math.dist(b, c)) / 2.0

    @property
    def angle(self) -> float:
        """Direction that the text runs in, clockwise from the image's x axis [rad]."""
        a, b, c, d = self.corners
        return math.atan2(b[1] - a[1] + c[1] - d[1], b[0] - a[0] + c[0] - d[0])


@dataclass(frozen=True, slots=True)
class Sign:
    """What one sign or label says.

    :param text: its lines, joined by spaces
    :param confidence: of its least certain line
    :param cut: a part may be missing
    """

    text: str
    confidence: float
    cut: bool = False


def clean(text: str) -> str:
    """Return the text without what OCR adds at its ends, with single spaces."""
    return re.sub(r'\s+', ' ', unicodedata.normalize('NFKC', text)).strip(_STRAY)


def believable(line: Line) -> bool:
    """Return whether a line is certain enough to be remembered."""
    length = sum(character.isalnum() for character in line.text)
    return length > 0 and line.confidence >= (MIN_CONFIDENCE_SHORT if length < SHORT else MIN_CONFIDENCE)


def group_signs(lines: Iterable[Line]) -> list[Sign]:
    """Return the signs of one image: lines close together, of like height and direction, are one sign.

    Lines that cannot be believed are left out, and so are signs of a single character.
    """
    cleaned = (replace(line, text=clean(line.text)) for line in lines)
    kept = [line for line in cleaned if believable(line)]
    groups = list(range(len(kept)))
    for a, b in combinations(range(len(kept)), 2):
        if groups[a] != groups[b] and _belong_together(kept[a], kept[b]):
            groups = [groups[a] if group == groups[b] else group for group in groups]
    signs = []
    for group in dict.fromkeys(groups):
        rows = _rows([line for line, its_group in zip(kept, groups, strict=True) if its_group == group])
        if len(rows) <= MAX_LINES:
            signs.append(_sign([line for row in rows for line in row]))
        else:
            signs.extend(_sign(row) for row in rows)
    return [sign for sign in signs if sum(c.isalnum() for c in sign.text) >= MIN_CHARACTERS]


def merge_signs(frames: Iterable[Sequence[Sign]]) -> list[Sign]:
    """Return each sign that was seen in some frames once, the way it was read with most confidence.

    Signs are the same if they differ in case, spaces or a few letters of long words. Numbers and short words
    must agree: rooms 101 and 102 are two rooms. A sign that the image cuts off is the same as the whole one.
    If that was not seen, it is left out if it has a number, since 'ROOM 10' may be what is left of another
    room, 'ROOM 101', and if it has no word of MIN_CUT letters.
    """
    merged: list[Sign] = []
    for signs in frames:
        # Two texts in one image are two signs, however alike.
        earlier = merged.copy()
        for sign in signs:
            for index, known in enumerate(earlier):
                if _same(sign.text, known.text):
                    # Whole before cut, then the more certain.
                    if (not sign.cut, sign.confidence) > (not known.cut, known.confidence):
                        merged[index] = sign
                    break
                if _part(sign, known):
                    break
                if _part(known, sign):
                    merged[index] = sign
                    break
            else:
                merged.append(sign)
    unique: dict[str, Sign] = {}
    for sign in merged:
        first = unique.setdefault(_key(sign.text), sign)
        if sign.confidence > first.confidence:
            unique[_key(sign.text)] = sign

    def tells(text: str) -> bool:
        return not _digits(text) and any(len(word) >= MIN_CUT for word in _words(text))

    return [sign for sign in unique.values() if not sign.cut or tells(sign.text)]


def _belong_together(a: Line, b: Line) -> bool:
    small, large = sorted((max(a.height, 1e-6), max(b.height, 1e-6)))
    if large > 2.0 * small or abs(math.remainder(a.angle - b.angle, math.tau)) > MAX_TILT:
        return False
    (ax, ay), (bx, by) = a.centre, b.centre
    cosine, sine = math.cos(a.angle), math.sin(a.angle)
    along = abs((bx - ax) * cosine + (by - ay) * sine)
    across = abs((by - ay) * cosine - (bx - ax) * sine)
    gap_along = along - (a.width + b.width) / 2.0
    gap_across = across - (a.height + b.height) / 2.0
    stacked = gap_across <= 0.6 * small and -gap_along >= 0.5 * min(a.width, b.width)
    beside = across <= 0.4 * small and gap_along <= 0.8 * small and large <= 1.5 * small
    return stacked or beside


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines from top to bottom in rows from left to right, as the text runs."""
    angle = math.atan2(
        sum(math.sin(line.angle) for line in lines), sum(math.cos(line.angle) for line in lines)
    )
    cosine, sine = math.cos(angle), math.sin(angle)

    def across(line: Line) -> float:
        x, y = line.centre
        return y * cosine - x * sine

    def along(line: Line) -> float:
        x, y = line.centre
        return x * cosine + y * sine

    rows: list[list[Line]] = []
    for line in sorted(lines, key=across):
        if rows and across(line) - across(rows[-1][0]) <= 0.5 * min(line.height, rows[-1][0].height):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=along) for row in rows]


def _sign(lines: Sequence[Line]) -> Sign:
    return Sign(
        ' '.join(line.text for line in lines),
        min(line.confidence for line in lines),
        any(line.cut for line in lines),
    )


def _words(text: str) -> list[str]:
    return re.findall(r'[^\W_]+', text.casefold())


def _key(text: str) -> str:
    return ''.join(_words(text)) or text


def _same(a: str, b: str) -> bool:
    words_a, words_b = _words(a), _words(b)
    return _key(a) == _key(b) or (len(words_a) == len(words_b) and all(map(_alike, words_a, words_b)))


def _alike(a: str, b: str) -> bool:
    """Return whether two words are one word, read twice."""
    length = min(len(a), len(b))
    if a == b or length < 5 or any(character.isdigit() for character in a + b):
        return a == b
    return _edits(a, b) <= (1 if length < 8 else 2)


def _part(part: Sign, whole: Sign) -> bool:
    """Return whether a sign is what an image's border or a missed line left of another."""
    a, b = _words(part.text), _words(whole.text)
    if not a or len(_key(part.text)) >= len(_key(whole.text)):
        return False
    if len(a) < len(b) and any(a == b[i : i + len(a)] for i in range(len(b) - len(a) + 1)):
        # 'ROOM' is no part of 'ROOM 101' unless it is cut off: it may be another room.
        return part.cut or (len(_key(part.text)) >= SHORT and not _digits(whole.text))
    if not part.cut or len(_key(part.text)) < 3 or _digits(part.text) != _digits(whole.text):
        return False
    return _key(whole.text).startswith(_key(part.text)) or _key(whole.text).endswith(_key(part.text))


def _digits(text: str) -> str:
    return ''.join(character for character in text if character.isdigit())


def _edits(a: str, b: str) -> int:
    """Return the Levenshtein distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (x != y)))
    return row[-1]
