import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.objects.detectors.detection import MOST, OVERLAP, suppressed

LABELS = ('cup', 'bowl', 'chair', 'door')


def iou(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    shared = max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    return shared / (sum(areas) - shared)


@given(st.integers(0, 2**32), st.integers(0, 60), st.floats(0.01, 0.9))
def test_what_stays_is_sure_inside_and_apart_from_its_like(seed: int, count: int, least: float) -> None:
    rng = np.random.default_rng(seed)
    corners = rng.uniform(0.0, 90.0, (count, 2))
    boxes = np.concatenate([corners, corners + rng.uniform(0.0, 30.0, (count, 2))], axis=1)
    boxes = np.clip(boxes, 0.0, (100.0, 90.0) * 2).astype(np.float32)
    scores = rng.uniform(0.0, 1.0, (count, len(LABELS))).astype(np.float32)
    found = list(suppressed(boxes, scores, LABELS, least, (90, 100)))
    names = [max(named, key=lambda label: named[label]) for _, named in found]
    best = [max(named.values()) for _, named in found]
    assert best == sorted(best, reverse=True)
    assert all(score >= np.float32(least) for score in best)
    for i, (box, named) in enumerate(found):
        assert 0.0 <= box[0] < box[2] <= 100.0
        assert 0.0 <= box[1] < box[3] <= 90.0
        assert len(named) <= 3
        for j in range(i):
            assert names[i] != names[j] or iou(box, found[j][0]) <= OVERLAP + 1e-3
    # What went is no surer than something that stays and covers it, or has no area to speak of.
    for row, values in zip(boxes, scores, strict=True):
        wide = (row[2:] - row[:2] > 1.01).all()
        if wide and values.max() >= least + 1e-6:
            label = LABELS[int(values.argmax())]
            covers = [
                iou(tuple(row.tolist()), box)
                for (box, _), name in zip(found, names, strict=True)
                if name == label
            ]
            assert max(covers) > OVERLAP - 1e-3


def test_what_is_not_finite_is_left_out_and_the_rest_clipped() -> None:
    boxes = np.array([[-5, -5, 20, 20], [np.nan, 0, 9, 9], [30, 1, np.inf, 9], [30, 0, 50, 20]], np.float32)
    scores = np.array([[0.7], [0.8], [0.9], [np.nan]], np.float32)
    assert list(suppressed(boxes, scores, ('cup',), 0.1, (10, 60))) == [
        ((0.0, 0.0, 20.0, 10.0), {'cup': float(np.float32(0.7))})
    ]


def test_of_very_many_the_surest_stay() -> None:
    corners = np.stack(np.meshgrid(np.arange(40.0), np.arange(20.0)), axis=-1).reshape(-1, 2) * 10
    boxes = np.concatenate([corners, corners + 9.0], axis=1).astype(np.float32)
    scores = np.linspace(0.1, 0.9, len(boxes), dtype=np.float32)[:, None]
    found = list(suppressed(boxes, scores, ('cup',), 0.05, (400, 400)))
    assert len(found) == MOST == 300
    assert min(named['cup'] for _, named in found) == float(scores[-MOST, 0])
