"""Recordings, as the tests of remembr_ros write them."""

from test.unit.bags.conftest import bag, t0

__all__ = ['bag', 't0']
