"""What lies where a file should be that was never fetched."""

from pathlib import Path

_WEB_PAGE = 'a web page, not what it is called: its download ended at a page that asks for something'
_BEGINNINGS = {
    b'version https://git-lfs.github.com/spec/': 'a pointer of Git LFS, not the file itself, which '
    "'git lfs pull' brings (apt install git-lfs)",
    b'/annex/objects/': "a pointer of git-annex, not the file itself, which 'git annex get' brings",
    b'<!doctype html': _WEB_PAGE,
    b'<html': _WEB_PAGE,
}


def stand_in(file: Path) -> str:
    """Return what lies there instead of a file, and what brings it; empty: it may be the file itself.

    :raises OSError: it cannot be read
    """
    with file.open('rb') as opened:
        begins = opened.read(64).lstrip().lower()
    return next((what for start, what in _BEGINNINGS.items() if begins.startswith(start)), '')
