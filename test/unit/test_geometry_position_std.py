import math

import pytest

from remembr_ros.geometry import position_std


def covariance(xx: float, yy: float, xy: float = 0.0) -> list[float]:
    values = [0.0] * 36
    values[0], values[7], values[1], values[6] = xx, yy, xy, xy
    values[14] = 1e6  # of z, which a planar robot does not measure
    return values


@pytest.mark.parametrize(
    ('given', 'std_m'),
    [
        (covariance(0.0, 0.0), 0.0),
        (covariance(4.0, 1.0), 2.0),
        (covariance(1.0, 9.0), 3.0),
        (covariance(2.0, 2.0, 2.0), 2.0),
        (covariance(-1.0, 0.0), 0.0),
        (covariance(math.nan, 0.0), math.inf),
        (covariance(1.0, math.inf), math.inf),
    ],
    ids=['not known', 'x', 'y', 'diagonal', 'negative', 'nan', 'infinite'],
)
def test_the_least_certain_direction_counts(given, std_m):
    assert position_std(given) == pytest.approx(std_m)
