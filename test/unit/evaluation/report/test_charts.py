from remembr_ros.evaluation.report.charts import history_bins


def test_bins_of_history(record):
    lengths = (30.0, 60.0, 119.0, 120.0, 90_000.0)
    found = history_bins([record(str(s), history_sec=s) for s in lengths] + [record('n', correct=None)])
    assert [(low, high, correct.n) for low, high, correct in found] == [
        (0, 1, 1),
        (1, 2, 2),
        (2, 4, 1),
        (480, 1500.0, 1),
    ]
