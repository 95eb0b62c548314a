"""docker/: what can be known of images without building them."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import remembr_ros
from remembr_ros.nodes.bringup import plan_nodes
from remembr_ros.nodes.launch_arguments import ARGUMENTS

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / 'docker'
FILES = ('Dockerfile', 'Dockerfile.gpu', 'Dockerfile.jetson')
OURS = f'remembr_ros:{remembr_ros.__version__}'

Instruction = tuple[str, str]


def instructions(name: str) -> list[Instruction]:
    """Return the instructions of a Dockerfile with their arguments, each in one line."""
    text = re.sub(r'^\s*#.*\n', '', (DOCKER / name).read_text(), flags=re.MULTILINE)
    lines = re.sub(r'\\\n\s*', '', text).splitlines()
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines if line.strip()]


def values(name: str, instruction: str) -> list[str]:
    return [argument for kind, argument in instructions(name) if kind == instruction]


def compose() -> dict[str, Any]:
    loaded = yaml.safe_load((DOCKER / 'compose.yaml').read_text())
    assert isinstance(loaded, dict)
    return loaded


def launch_arguments(command: list[str]) -> dict[str, str]:
    """Return what a command gives to bringup.launch.py, with the defaults of compose's variables."""
    assert command[:5] == ['ros2', 'launch', '--noninteractive', 'remembr_ros', 'bringup.launch.py']
    plain = [re.sub(r'\$\{\w+:-([^}]*)\}', r'\1', part) for part in command[5:]]
    return dict(part.split(':=', 1) for part in plain)


SERVICES = compose()['services']
ROBOTS = sorted(name for name in SERVICES if name.startswith('robot'))
OTHERS = sorted(set(SERVICES) - set(ROBOTS))


@pytest.mark.parametrize('name', FILES)
def test_an_image_is_made_of_one_that_is_named_to_the_version(name):
    defaults = dict(argument.split('=', 1) for argument in values(name, 'ARG') if '=' in argument)
    for image in values(name, 'FROM'):
        base = re.sub(r'\$\{(\w+)\}', lambda match: defaults[match[1]], image.split(' AS ')[0])
        assert base in ('ros:jazzy-ros-base-noble', OURS), base


@pytest.mark.parametrize('name', FILES)
def test_an_image_does_not_run_as_root(name):
    # By its number: of a name Kubernetes (runAsNonRoot) cannot tell that it is not root's.
    assert values(name, 'USER')[-1] == '10001'


@pytest.mark.parametrize('name', FILES)
def test_what_is_copied_is_there_and_gets_past_dockerignore(name):
    kept = [line[1:] for line in (ROOT / '.dockerignore').read_text().splitlines() if line.startswith('!')]
    for argument in values(name, 'COPY'):
        parts = [part for part in shlex.split(argument) if not part.startswith('--')]
        if '--from=' in argument:
            continue
        for source in parts[:-1]:
            assert (ROOT / source).exists(), source
            assert source in kept, f'{source} is left out by .dockerignore'


@pytest.mark.parametrize('name', FILES)
def test_packages_are_installed_without_leaving_anything_behind(name):
    for command in values(name, 'RUN'):
        if 'apt-get install' in command:
            assert 'apt-get update' in command
            assert '--no-install-recommends' in command
            assert 'rm -rf /var/lib/apt/lists/*' in command
        if 'pip install' in command:
            assert '--no-cache-dir' in command
            assert '--constraint' in command


@pytest.mark.parametrize('name', FILES)
def test_no_secret_is_in_an_image(name):
    for kind in ('ARG', 'ENV'):
        assert not [one for one in values(name, kind) if re.search('KEY|TOKEN|PASSWORD|SECRET', one)]
    assert values(name, 'ADD') == []


@pytest.mark.parametrize('name', FILES)
def test_an_image_starts_the_nodes_with_arguments_that_exist(name):
    (command,) = values(name, 'CMD')
    given = launch_arguments(json.loads(command))
    assert set(given) <= {argument.name for argument in ARGUMENTS}
    assert plan_nodes(given)
    assert given['respawn'] == 'true'


def test_the_image_saves_what_waits_when_it_is_stopped_and_says_how_it_is():
    assert values('Dockerfile', 'STOPSIGNAL') == ['SIGINT']
    (check,) = values('Dockerfile', 'HEALTHCHECK')
    assert plan_nodes({})[0].full_name in check
    # 'inactive' has it, too.
    assert 'grep -q ^active' in check


def test_the_image_tells_its_version():
    labels = ' '.join(values('Dockerfile', 'LABEL'))
    assert f'image.version={remembr_ros.__version__} ' in labels


def test_the_entry_point_sources_what_the_image_builds():
    build = ' '.join(values('Dockerfile', 'RUN'))
    base = re.search(r'--install-base (\S+)', build)
    assert base
    assert f'source {base[1]}/local_setup.bash' in (DOCKER / 'entrypoint.sh').read_text()
    assert any(f'{base[1]} {base[1]}' in copied for copied in values('Dockerfile', 'COPY'))


def test_the_constraints_fit_the_package_and_the_messages_of_ros():
    lines = (DOCKER / 'constraints.txt').read_text().splitlines()
    pinned = dict(line.split('==') for line in lines if not line.startswith('#'))
    assert Version(pinned['numpy']) < Version('2')
    setup = (ROOT / 'setup.py').read_text()
    named = [Requirement(text) for text in re.findall(r"'([a-zA-Z][\w-]*(?:[<>=]=?[\d.]+)+)'", setup)]
    fitting = {
        requirement.name: Version(pinned[requirement.name.lower()]) in requirement.specifier
        for requirement in named
        if requirement.name.lower() in pinned
    }
    assert len(fitting) > 10
    assert all(fitting.values()), fitting


@pytest.mark.parametrize('name', ROBOTS)
def test_the_nodes_of_a_service_are_confined_and_started_with_arguments_that_exist(name):
    service = SERVICES[name]
    given = launch_arguments(service['command'])
    assert set(given) <= {argument.name for argument in ARGUMENTS}
    assert plan_nodes(given)
    assert service['image'].startswith(OURS)
    assert (DOCKER / service['build']['context'] / service['build']['dockerfile']).is_file()
    assert service['read_only']
    assert service['cap_drop'] == ['ALL']
    assert service['stop_signal'] == 'SIGINT'
    assert 'privileged' not in service


@pytest.mark.parametrize('name', OTHERS)
def test_a_server_is_pinned_watched_and_open_to_this_machine_only(name):
    service = SERVICES[name]
    tag = service['image'].rpartition(':')[2]
    assert re.search(r'\d+[.-]\d+', tag), f'{service["image"]} has no version'
    assert service['healthcheck']['test'][0] == 'CMD'
    for port in service.get('ports', []):
        assert port.startswith(('127.0.0.1:', '${MILVUS_BIND:-127.0.0.1}:')), port


@pytest.mark.parametrize('name', sorted(SERVICES))
def test_a_service_has_a_profile_and_what_it_refers_to(name):
    service = SERVICES[name]
    assert service['profiles']
    for volume in service.get('volumes', []):
        assert volume.partition(':')[0] in compose()['volumes']
    for other in service.get('depends_on', {}):
        assert set(service['profiles']) <= set(SERVICES[other]['profiles'])


def test_secrets_are_handed_on_and_not_written_down():
    for service in SERVICES.values():
        for name, value in service.get('environment', {}).items():
            if re.search('API_KEY|TOKEN', name):
                assert value is None, f'{name} has a value'


def test_a_profile_for_each_way_to_run():
    profiles = {profile for service in SERVICES.values() for profile in service['profiles']}
    assert {'robot', 'milvus', 'ollama', 'vllm', 'gpu', 'jetson'} <= profiles


def test_the_values_for_a_fleet_are_of_the_same_milvus():
    fleet = yaml.safe_load((DOCKER / 'milvus-values.yaml').read_text())
    assert SERVICES['milvus']['image'] == f'milvusdb/milvus:{fleet["image"]["all"]["tag"]}'
    assert yaml.safe_load(fleet['extraConfigFiles']['user.yaml'])['common']['security'][
        'authorizationEnabled'
    ]
