"""Messages can be made without a ROS graph; their generator's parser uses a deprecated module."""

import contextlib
import warnings

with warnings.catch_warnings():
    warnings.simplefilter('ignore')
    with contextlib.suppress(ImportError):  # the tests skip themselves
        import rosidl_generator_py  # noqa: F401
