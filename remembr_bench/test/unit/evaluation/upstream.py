"""The folder of a NaVQA of this project as upstream has it, with captions as its captioner writes them."""

import json
import shutil
from pathlib import Path

CAPTIONS = 'captions_VILA1.5-13b_3_secs'


def as_upstream(folder: Path, number: int, captions: str, target: Path, windows: str) -> Path:
    """Write one sequence to a folder `data`, and return that.

    :param captions: name of the file that it is made of
    :param windows: where those of the questions lie
    """
    data, sequence = target / 'data', folder / str(number)
    entries = json.loads((sequence / f'{captions}.json').read_text())
    records = [
        {
            'id': index,
            'position': entry['position'],
            'theta': 3.14,
            'time': entry['time'],
            'caption': entry['caption'],
            'file_start': f'{entry["start_time"]}.pkl',
            'file_end': f'{entry["end_time"]}.pkl',
            'text_embedding': [0.25 * index] * 64,
        }
        for index, entry in enumerate(entries)
    ]
    for path in (f'captions/{number}/captions/{CAPTIONS}.json', 'navqa/data.csv', windows):
        (data / path).parent.mkdir(parents=True, exist_ok=True)
    (data / f'captions/{number}/captions/{CAPTIONS}.json').write_text(json.dumps(records))
    shutil.copyfile(folder / 'data.csv', data / 'navqa/data.csv')
    shutil.copyfile(sequence / 'qa_unfilled.json', data / windows)
    return data
