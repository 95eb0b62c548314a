"""A package, so that `python -m test.bench` finds it before the standard library's package test."""
