"""What Python's logging is told is in the log of a node."""

import logging
import re
import threading
import warnings

import pytest
import rclpy
from rclpy.logging import get_logger
from rclpy.node import Node

from remembr_ros.nodes.base.lifecycle import python_log


class Log:
    """A node's log that notes what it is told, and with which severity."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.level = logging.INFO

    def get_effective_level(self) -> int:
        return self.level

    def __getattr__(self, severity: str):
        return lambda text: self.told.append((severity, text))


@pytest.mark.timeout(120)
@pytest.mark.parametrize('level', ['info', 'debug'])
def test_a_node_process_logs_by_ros_what_python_code_logs(robot, processes, level):
    module = 'test.node.base.logging_node'
    process = processes.start_module(
        module, '--ros-args', '-p', 'autostart:=true', '--log-level', f'remembr.talker:={level}', log='talker'
    )
    robot.wait(lambda: 'all is said' in processes.log('talker'), 'all that it says', 60.0)
    process.terminate()
    assert process.wait(20.0) == 0
    log = processes.log('talker')
    said = re.findall(r'^\[(\w+)\] \[[\d.]+\] \[remembr\.talker\]: (.*)', log, re.MULTILINE)
    debug = [('DEBUG', 'debug of remembr_ros.agent.agent')] if level == 'debug' else []
    assert [one for one in said if ' of ' in one[1]] == [
        *debug,
        ('INFO', 'info of remembr_ros.agent.agent'),
        ('WARN', r'warning of remembr_ros.agent.agent: \u001b[2J'),
        ('WARN', r'library: warning of library: \u001b[2J'),
    ]
    assert any(kind == 'WARN' and 'UserWarning: a poor choice' in text for kind, text in said)
    assert ('ERROR', 'library: it failed') in said
    assert log.count('it failed') == log.count('a poor choice\n') == 1
    assert r'ValueError: \u001b[2J of a server' in log
    assert '\x1b[2J' not in log


def test_afterwards_logging_is_as_it_was():
    own, root = logging.getLogger('remembr_ros'), logging.getLogger()

    def state():
        return own.level, own.propagate, own.handlers[:], root.handlers[:], warnings.showwarning

    before = state()
    with python_log(get_logger('remembr.one')):
        assert state() != before
    assert state() == before


def test_what_the_log_itself_warns_of_is_not_logged_for_ever():
    log = Log()

    def warning(text: str) -> None:
        log.told.append(('warning', text))
        logging.getLogger('remembr_ros').warning('again')

    log.warning = warning
    with python_log(log):
        logging.getLogger('remembr_ros').warning('once')
    assert log.told == [('warning', 'once')]


def test_a_record_that_cannot_be_formatted_fails_nobody(capsys):
    log = Log()
    with python_log(log):
        logging.getLogger('remembr_ros').warning('%d', 'no number')
        logging.getLogger('remembr_ros').warning('the next')
    assert log.told == [('warning', 'the next')]
    assert 'no number' in capsys.readouterr().err


def test_the_log_outlives_its_node_and_is_told_from_many_threads(capfd):
    rclpy.init()
    node = Node('gone', namespace='/remembr')
    with python_log(node.get_logger()):
        node.destroy_node()
        rclpy.shutdown()
        logger = logging.getLogger('remembr_ros')
        speakers = [threading.Thread(target=logger.warning, args=(f'word {i}',)) for i in range(8)]
        for speaker in speakers:
            speaker.start()
        for speaker in speakers:
            speaker.join()
    assert {*re.findall(r'word \d', capfd.readouterr().err)} == {f'word {i}' for i in range(8)}
