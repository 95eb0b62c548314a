"""Waiting in a coroutine, with a timeout."""

from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future

from remembr_ros.nodes.base.worker_pool import settle

STEADY = Clock(clock_type=ClockType.STEADY_TIME)  # goes on whatever simulated time does
LOOK_S = 0.05  # [s] what nobody tells of is looked at this often


async def first_of(node: Node, timeout_s: float, *futures: Future) -> bool:
    """Wait for the first of some futures, and return whether one came in time."""
    gate = Future()
    timer = node.create_timer(max(0.0, timeout_s), lambda: settle(node, gate, False), clock=STEADY)
    for future in futures:
        future.add_done_callback(lambda _: settle(node, gate, True))
    try:
        return bool(await gate)
    finally:
        node.destroy_timer(timer)


async def until(node: Node, timeout_s: float, condition: Callable[[], bool], *futures: Future) -> bool:
    """Wait until a condition holds, or one of the futures is there; return whether the condition holds."""
    if condition():
        return True
    held = Future()

    def look() -> None:
        if condition():
            settle(node, held)

    timer = node.create_timer(LOOK_S, look, clock=STEADY)
    try:
        await first_of(node, timeout_s, held, *futures)
    finally:
        node.destroy_timer(timer)
    return bool(held.done())
