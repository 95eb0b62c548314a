"""Nodes that start in any order, die and come back; two robots with one memory; many questions at once."""

import os
import re
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter

from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.msg import CaptionAck
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Ask, Recall
from remembr_ros.captioning.captioners.captioner import Caption
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import duration_to_msg
from remembr_ros.nodes.base.lifecycle import call
from remembr_ros.nodes.captioner.node import CaptionerNode
from remembr_ros.nodes.memory.node import MemoryNode
from test.fake_captioner import FakeCaptioner
from test.node.captioner.test_node import jpeg, pose
from test.node.memory.test_node_keeping import caption
from test.patience import patiently

CLIENTS, QUESTIONS = 4, 25
THINGS = ('lift', 'printer', 'sofa', 'kitchen', 'red door')


@pytest.fixture(autouse=True)
def without_a_language_model(monkeypatch):
    for name in ('OPENAI_API_KEY', 'REMEMBR_LLM', 'REMEMBR_LLM_URL'):
        monkeypatch.delenv(name, raising=False)


def sign(second: float, text: str, x: float) -> MemoryMsg:
    msg = caption(second, f'There is a sign that says "{text}".', x)
    msg.scene_text = [text]
    return msg


def ask(robot, question: str) -> tuple[Ask.Response, float]:
    """Return the response, and how long it took [s]."""
    began = time.monotonic()
    response = robot.call(Ask, 'ask', Ask.Request(question=question), 40.0)
    return response, time.monotonic() - began


@pytest.mark.timeout(240)
@pytest.mark.parametrize('number', ['kill', 'terminate'])
def test_nothing_is_lost_and_questions_fail_politely_while_the_memory_node_is_away(
    robot, processes, tmp_path, number
):
    options = {'uri': tmp_path / 'm.db', 'embedder': 'hashing', 'autostart': True, 'consolidate': False}
    robot.start(AgentNode, pose_source='none', recall_timeout=1.0)  # before the memory node
    out = robot.start(CaptionerNode, captioner='none', pose_source='none')._captions
    sent = iter(range(1000))

    def send(count: int) -> None:
        for _ in range(count):
            second = 10 * next(sent)
            out.publish(sign(second, 'LIFT' if second == 0 else f'ROOM {100 + second}', second))

    def is_refused_politely() -> None:
        response, took_s = ask(robot, 'Where is the lift?')
        assert response.error_code == Ask.Response.MEMORY_UNAVAILABLE
        assert 'memory node' in response.error_msg
        assert took_s < patiently(5.0)

    def finds_everything(count: int) -> bool:
        found = call(
            robot.client,
            Recall,
            '/remembr/recall',
            Recall.Request(source='captioner'),
            time.monotonic() + 30.0,
        )
        return found.error_code == Recall.Response.NONE and found.total == count

    def is_answered() -> None:
        def answered() -> bool:
            response = ask(robot, 'Where is the lift?')[0]
            return response.error_code == Ask.Response.NONE and response.answer.kind == AnswerMsg.POSITION

        robot.wait(answered, 'an answer', 60.0)

    is_refused_politely()
    send(5)
    first = processes.start('memory', **options)
    robot.wait(lambda: len(out) == 0, 'what was sent before it came to be stored', 60.0)
    assert finds_everything(5)
    is_answered()
    send(20)
    getattr(first, number)()  # in the middle of storing
    send(20)
    first.wait(20.0)
    is_refused_politely()
    send(5)
    processes.start('memory', **options)
    robot.wait(lambda: len(out) == 0, 'every caption to be stored', 90.0)
    assert finds_everything(50)
    is_answered()


def ports_of_shared_memory(process: int) -> set[Path]:
    """Return the ports for messages that a process has open: its own, and those that it writes to."""
    maps = Path(f'/proc/{process}/maps').read_text()
    return {
        Path(port)
        for port, number in re.findall(r'(/dev/shm/fastrtps_port(\d+))', maps)
        if int(number) >= 7400
    }


def is_unwatched(port: Path) -> bool:
    """Tell whether who reads from a port neither waits for a message nor is at one: none would miss him.

    Fast DDS 2.14 lays a port out as 1,024 readers of 20 bytes, of which one is there, and its domain's name.
    """
    content = port.read_bytes()
    state = content[content.index(b'fastrtps\0') - 1024 * 20]
    is_there, waits, works = 1, 2, 4
    return state & (is_there | waits | works) == is_there


@pytest.mark.timeout(180)
def test_a_successor_is_heard_whatever_the_killed_node_was_at(robot, processes, tmp_path):
    """Those who write to a port of shared memory do not see that it is gone (eProsima/Fast-DDS#5469)."""
    options = {'uri': tmp_path / 'm.db', 'embedder': 'hashing', 'autostart': True, 'consolidate': False}
    acks = robot.listen(CaptionAck, 'captions/acks', qos.CAPTIONS)
    captions = robot.client.create_publisher(MemoryMsg, 'captions', qos.CAPTIONS)
    seconds = iter(range(1_000_000))

    def is_answered() -> bool:
        captions.publish(caption(next(seconds), 'A corridor.', 0.0))
        return bool(acks)

    others = ports_of_shared_memory(os.getpid())
    first = processes.start('memory', **options)
    robot.wait(is_answered, 'an answer', 60.0)
    (port,) = ports_of_shared_memory(first.pid) - others
    for _ in range(10_000):
        is_answered()
        first.send_signal(signal.SIGSTOP)
        os.waitpid(first.pid, os.WUNTRACED)
        if is_unwatched(port):
            break
        first.send_signal(signal.SIGCONT)
    assert is_unwatched(port)
    first.kill()
    first.wait(20.0)
    acks.clear()
    processes.start('memory', **options)
    robot.wait(is_answered, 'an answer of its successor', 60.0)


class Reader(FakeCaptioner):
    """Reads a sign."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def describe(self, images) -> Caption:
        return Caption(f'There is a sign that says "{self._text}".', (self._text,))


def test_two_robots_in_two_namespaces_share_one_memory_node(robot, tmp_path):
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    stored = robot.listen(MemoryMsg, 'memories')
    for name, text, x in (('r1', 'LIFT', 1.0), ('r2', 'PRINTER', 7.0)):
        shared = ('captions', 'memories', 'recall', 'find_objects', 'get_keyframe')
        remaps = [part for topic in shared for part in ('-r', f'{topic}:=/remembr/{topic}')]
        arguments = ['--ros-args', '-r', f'__ns:=/{name}', *remaps]
        source = Parameter('pose_source', value='pose')
        captioner = robot.add(
            CaptionerNode(
                cli_args=arguments,
                parameter_overrides=[
                    source,
                    Parameter('robot', value=name),
                    Parameter('captioner', value='none'),
                ],
            )
        )
        agent = robot.add(AgentNode(cli_args=arguments, parameter_overrides=[source]))
        for node in (captioner, agent):
            node.trigger_configure()
            node.trigger_activate()
        captioner._describer.captioner = Reader(text)
        images = robot.talk(type(jpeg(0.0)), f'/{name}/image/compressed')
        poses = robot.talk(type(pose(0.0, x)), f'/{name}/pose')

        def knows_pose(known=captioner._placer.poses, out=poses, x=x) -> bool:
            out.publish(pose(0.0, x))  # heard at best effort: one may be lost
            return known.newest_ns is not None

        robot.wait(knows_pose, 'the pose')
        images.publish(jpeg(0.0))
        robot.wait(lambda node=captioner: node._frames, 'the image')
        # Where its images are taken: one may be on its way into the segment.
        robot.executor.create_task(captioner._end_segment)
        robot.wait(lambda name=name: name in [msg.robot for msg in stored], 'the memory')
        robot.wait(lambda node=captioner: len(node._captions) == 0, 'its acknowledgement')
    assert sorted(msg.robot for msg in stored) == ['r1', 'r2'], 'of the same instant, and both are there'
    for name in ('r1', 'r2'):
        for question, seen_by, x in (('Where is the lift?', 'r1', 1.0), ('Where is the printer?', 'r2', 7.0)):
            request = Ask.Request(question=question)
            response = call(robot.client, Ask, f'/{name}/ask', request, time.monotonic() + 20.0)
            assert (response.error_code, response.answer.kind) == (Ask.Response.NONE, AnswerMsg.POSITION)
            assert response.answer.evidence[0].robot == seen_by
            assert response.answer.pose.pose.position.x == pytest.approx(x)


@pytest.mark.timeout(180)
@pytest.mark.parametrize('timeout_s', [60.0, 0.3])
def test_a_hundred_questions_at_once_are_answered_or_refused_with_a_reason(
    robot, processes, tmp_path, timeout_s, capsys
):
    processes.start('memory', uri=tmp_path / 'm.db', embedder='hashing', autostart=True)
    processes.start('agent', pose_source='none', autostart=True)
    clients = [robot.add(Node(f'asker_{i}')) for i in range(CLIENTS)]
    asks = [node.create_client(Ask, '/remembr/ask', qos_profile=qos.SERVICES) for node in clients]
    stored = robot.listen(MemoryMsg, 'memories')
    captions = robot.client.create_publisher(MemoryMsg, 'captions', 1000)
    robot.wait(captions.get_subscription_count, 'the memory node', 60.0)
    for i in range(200):
        captions.publish(sign(10.0 * i, THINGS[i % len(THINGS)].upper(), 3.0 * i))
    robot.wait(lambda: len(stored) == 200, 'two hundred memories', 60.0)
    for each in asks:
        robot.wait(each.service_is_ready, 'the agent', 60.0)
    began, taken = time.monotonic(), []
    futures = []
    for i in range(QUESTIONS):
        for number, each in enumerate(asks):
            request = Ask.Request(
                question=f'Where is the {THINGS[(i + number) % len(THINGS)]}?', asker=f'asker {number}'
            )
            request.timeout = duration_to_msg(timeout_s)
            futures.append(each.call_async(request))
            futures[-1].add_done_callback(lambda _: taken.append(time.monotonic() - began))
    robot.wait(lambda: all(future.done() for future in futures), 'a hundred responses', 90.0)
    responses = [future.result() for future in futures]
    refused = [response for response in responses if response.error_code != Ask.Response.NONE]
    answered = [response for response in responses if response.error_code == Ask.Response.NONE]
    assert all(response.answer.kind == AnswerMsg.POSITION for response in answered)
    assert all(
        response.error_code in {Ask.Response.BUDGET_EXCEEDED, Ask.Response.MEMORY_UNAVAILABLE}
        and response.error_msg
        for response in refused
    ), {(response.error_code, response.error_msg) for response in refused}
    assert max(taken) < timeout_s + patiently(3.0)
    assert bool(refused) == (timeout_s < 60.0)
    p50, p95 = np.percentile(taken, (50, 95))
    with capsys.disabled():
        sys.stdout.write(
            f'\n{len(responses)} questions of {CLIENTS} clients at once, {timeout_s} s each: {len(answered)} '
            f'answered, {len(refused)} refused; p50 {p50:.2f} s, p95 {p95:.2f} s, max {max(taken):.2f} s\n'
        )
