"""Waiting in a coroutine, never longer than told."""

from collections.abc import Callable

from rclpy.clock import Clock
from rclpy.node import Node
from rclpy.task import Future

from remembr_ros.nodes.base.worker_pool import settle

LOOK_S = 0.05
"""What nobody tells of is looked at this often [s]."""


async def first_of(node: Node, clock: Clock, timeout_s: float, *futures: Future) -> bool:
    """Wait for the first of some futures, and return whether one came in time.

    :param clock: steady, so that waiting ends whatever simulated time does
    :param timeout_s: from now [s]
    """
    gate = Future()
    timer = node.create_timer(max(0.0, timeout_s), lambda: settle(node, gate, False), clock=clock)
    for future in futures:
        future.add_done_callback(lambda _: settle(node, gate, True))
    try:
        return bool(await gate)
    finally:
        node.destroy_timer(timer)


async def until(
    node: Node, clock: Clock, timeout_s: float, condition: Callable[[], bool], *futures: Future
) -> bool:
    """Wait until a condition holds, or one of the futures is there, and return whether the condition holds.

    :param timeout_s: from now [s]
    """
    if condition():
        return True
    held = Future()
    timer = node.create_timer(LOOK_S, lambda: condition() and settle(node, held), clock=clock)
    try:
        await first_of(node, clock, timeout_s, held, *futures)
    finally:
        node.destroy_timer(timer)
    return bool(held.done())
