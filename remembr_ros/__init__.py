"""A robot's memory: what was seen, where and when, and answers that become navigation goals."""

from typing import TYPE_CHECKING

__version__ = '0.1.0'
__all__ = ['RobotMemory', 'open_memory']

if TYPE_CHECKING:
    from remembr_ros.robot_memory import RobotMemory, open_memory
else:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
        from remembr_ros import robot_memory  # late: who imports another part needs none of what this imports

        return getattr(robot_memory, name)
