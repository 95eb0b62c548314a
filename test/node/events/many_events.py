"""A process that tells of so many deeds at once, in no order: python -m ... COUNT START_S.

Within one process Fast DDS would drop what is beyond 5,000, whatever the depth.
"""

import random
import sys

import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile

from remembr_msgs.msg import Event


def main(count: int, start_s: int) -> None:
    rclpy.init(args=[])
    node = Node('teller', namespace='/remembr')
    publisher = node.create_publisher(Event, 'event', QoSProfile(depth=count))
    while not publisher.get_subscription_count():
        rclpy.spin_once(node, timeout_sec=0.01)
    numbers = list(range(count))
    random.Random(1).shuffle(numbers)
    for number in numbers:
        event = Event(kind='pick', object=f'thing {number}')
        event.begin.sec = start_s + number
        publisher.publish(event)
    rclpy.spin(node)  # until all have them


if __name__ == '__main__':
    main(*map(int, sys.argv[1:]))
