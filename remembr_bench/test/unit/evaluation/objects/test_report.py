import pytest

from remembr_bench.evaluation.objects.measure import Tally
from remembr_bench.evaluation.objects.report import object_table, results
from remembr_bench.evaluation.objects.run import PROMISED


def tally(found: int = 8, **changes) -> Tally:
    lists = {'centre_m': [0.02, 0.04], 'iou': [0.5, 0.7], 'still': [10, 1]}
    return Tally(found=found, **{**lists, **changes})


def told(*homes: Tally, level: str = PROMISED) -> dict:
    return results([7, 8], {level: homes})


def test_the_figures_are_those_of_all_homes_together() -> None:
    first = tally(8, lost=2, ghosts=1, duplicates=1, switches=3, seen=50)
    first.changed = {'moved': [4.0, None], 'missing': [8.0]}
    second = tally(10, seen=50)
    second.changed = {'moved': [6.0], 'missing': []}
    figures = told(first, second)
    overall = figures['overall']
    assert figures['homes'] == [7, 8]
    assert (overall['n'], overall['duplicates'], overall['ghosts']) == (20, 1, 1)
    assert overall['f1'] == pytest.approx(2 * 18 / (2 * 18 + 4))
    assert (overall['precision'], overall['recall']) == (18 / 20, 18 / 20)
    assert overall['f1_interval'][0] < overall['f1'] < overall['f1_interval'][1]
    assert (overall['moved'], overall['moved_known'], overall['moved_known_after_s']) == (3, 2 / 3, 5.0)
    assert (overall['missing'], overall['missing_known']) == (1, 1.0)
    assert overall['changes_known'] == 3 / 4
    assert (overall['still'], overall['falsely_changed']) == (20, 0.1)
    assert (overall['centre_error_m'], overall['iou']) == (pytest.approx(0.03), pytest.approx(0.6))


def test_overall_is_at_the_level_that_is_promised() -> None:
    figures = results([1], {'none': [tally(1)], PROMISED: [tally(3)]})
    assert (figures['noise'], figures['overall']['n']) == (PROMISED, 3)
    assert figures['by_noise']['none']['n'] == 1
    assert told(tally(), level='none')['noise'] == 'none'


def test_nothing_at_all_has_no_figures_and_no_error() -> None:
    figures = told(Tally())
    overall = figures['overall']
    assert overall['n'] == 0
    assert [overall[name] for name in ('f1', 'precision', 'moved_known', 'falsely_changed')] == [None] * 4
    assert '| - |' in object_table(figures['by_noise']).markdown()


def test_a_table_shows_every_level() -> None:
    figures = told(tally(), tally(9))
    rows = object_table(figures['by_noise']).markdown().splitlines()
    assert len(rows) == 2 + 1
    assert {len(row.split('|')) for row in rows} == {len(rows[0].split('|'))}
