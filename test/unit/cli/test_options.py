import argparse
from dataclasses import fields

import pytest

from remembr_ros.agent.build import AgentConfig
from remembr_ros.cli.captioner_options import add_captioner, captioner_from
from remembr_ros.cli.options import add_parameters
from remembr_ros.cli.planner_options import add_planner, agent_config
from remembr_ros.nodes.captioner.parameters import CaptionerParameters
from remembr_ros.nodes.web.parameters import WebParameters


def test_options_are_told_and_read_as_the_parameters_that_they_are() -> None:
    parser = argparse.ArgumentParser()
    add_planner(parser)
    add_captioner(parser)
    told = {action.dest: (action.help or '').replace('%%', '%') for action in parser._actions}
    for cls in (AgentConfig, CaptionerParameters):
        for field in fields(cls):
            if field.name in told and field.name != 'captioner':
                assert told[field.name].startswith(field.metadata['text'])
    args = parser.parse_args(['--llm-url', 'ollama', '--timeout', '7', '--look-again', 'llava'])
    assert agent_config(args) == AgentConfig(llm_url='ollama', timeout=7.0, look_again_model='llava')
    assert captioner_from(args, 'none').name == 'none'


@pytest.mark.parametrize(
    ('given', 'why'),
    [
        (['--port', '65536'], '--port: it is 65536; it has to be from 0 to 65535'),
        (['--port', 'http'], "--port: 'http' is no whole number"),
        (['--source', 'ear'], "invalid choice: 'ear'"),
    ],
)
def test_what_a_parameter_cannot_be_no_option_can(
    given: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from remembr_ros.nodes.speech.parameters import SpeechParameters

    parser = argparse.ArgumentParser()
    add_parameters(parser, WebParameters, 'port', names='--name')
    add_parameters(parser, SpeechParameters, 'source')
    assert parser.parse_args(['--name', 'a', '--name', 'b']).names == ['a', 'b']
    assert parser.parse_args([]).names == []
    with pytest.raises(SystemExit):
        parser.parse_args(given)
    assert why in capsys.readouterr().err
