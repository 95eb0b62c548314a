"""Recordings that are missing, empty, cut off or corrupt."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembr_ros.bags.reader import open_bag
from remembr_ros.errors import BagUnreadable
from remembr_ros.images import Frame

S = 1_000_000_000


def write(out: Any, t0: int, count: int = 30, payload: bytes | None = None) -> Any:
    with out:
        for number in range(count):
            out.compressed('/image', t0 + number * S, payload)
            out.tf(t0 + number * S, 'map', 'base_link', (number, 0, 0))
    return out


def drain(path: Path) -> int:
    """Read everything that can be read; return the number of events before the end or the damage."""
    count = 0
    try:
        with open_bag(path) as bag:
            for event in bag.events():
                count += 1
                if isinstance(event, Frame):
                    try:
                        event.decode()
                    except ValueError:
                        continue
    except BagUnreadable as error:
        named = path.name in str(error)
        assert named, error  # noqa: PT017
    return count


def test_missing_path(tmp_path: Path) -> None:
    with pytest.raises(BagUnreadable, match=r'nowhere.* does not exist'):
        open_bag(tmp_path / 'nowhere')


@pytest.mark.parametrize('name', ['notes.txt', 'bag.mcap', 'bag.db3', 'bag.bag'])
@pytest.mark.parametrize('content', [b'', b'hello, this is no recording' * 100])
def test_no_recording(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BagUnreadable, match=name):
        open_bag(tmp_path / name)


@pytest.mark.parametrize(
    'metadata', [None, '', 'just text', '[1, 2]', 'a: {', 'rosbag2_bagfile_information: 3']
)
def test_directory_without_a_recording(tmp_path: Path, metadata: str | None) -> None:
    (tmp_path / 'readme.md').write_text('hello')
    if metadata is not None:
        (tmp_path / 'metadata.yaml').write_text(metadata)
    with pytest.raises(BagUnreadable, match=tmp_path.name):
        open_bag(tmp_path)


def test_file_that_metadata_names_is_missing(
    bag: Any,
    t0: int,
) -> None:
    out = write(bag(), t0, 2)
    out.file.unlink()
    with pytest.raises(
        BagUnreadable, match=r'missing: bag_mcap.mcap .*without metadata.yaml .*/image \(sensor_msgs'
    ) as refused:
        open_bag(out.path)
    assert 'recover' not in str(refused.value)


def test_file_that_may_not_be_read_is_not_called_damaged(
    bag: Any, t0: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = write(bag(kind), t0, 2)

    def refuse(self: Path, *_: object) -> None:
        raise PermissionError(13, 'Permission denied', str(self))

    monkeypatch.setattr(Path, 'open', refuse)
    with pytest.raises(BagUnreadable, match='cannot be read: Permission denied') as refused:
        open_bag(out.file)
    assert 'damaged' not in str(refused.value)


@pytest.mark.parametrize('encoding', [b'jso', b'pro'])
def test_mcap_of_something_else_is_not_called_damaged(bag: Any, t0: int, encoding: bytes) -> None:
    out = write(bag(), t0, 2)
    out.file.write_bytes(out.file.read_bytes().replace(b'\3\0\0\0cdr', b'\3\0\0\0' + encoding))
    with pytest.raises(BagUnreadable, match=rf'no messages.*/image \({encoding.decode()}\)') as refused:
        open_bag(out.file)
    assert 'damaged' not in str(refused.value)


@pytest.mark.parametrize('metadata', ['', '[1, 2]', 'a: {', 'rosbag2_bagfile_information: 3'])
def test_broken_metadata_does_not_hinder(bag: Any, t0: int, metadata: str) -> None:
    out = write(bag(), t0, 2)
    (out.path / 'metadata.yaml').write_text(metadata)
    with open_bag(out.path) as reader:
        assert reader.frame_count == 2


def test_metadata_that_names_files_of_others_is_refused_by_name(bag: Any, t0: int) -> None:
    out = write(bag('mcap', 'file'), t0, 2)
    (out.path / 'metadata.yaml').write_text('a: {')
    out.file.rename(out.file.with_suffix('.xz'))
    with pytest.raises(BagUnreadable, match=r'no metadata.yaml that can be read.*\.mcap\.xz'):
        open_bag(out.path)


@pytest.mark.parametrize('with_topic', [True, False])
def test_recording_without_messages(bag: Any, kind: str, with_topic: bool) -> None:
    with bag(kind) as out:
        if with_topic:
            out.topic('/image', 'sensor_msgs/msg/CompressedImage')
    with pytest.raises(BagUnreadable, match='empty: it has no messages'):
        open_bag(out.path)


def test_recording_without_images_names_what_it_has(bag: Any, kind: str, t0: int) -> None:
    with bag(kind) as out:
        out.odometry('/odom', t0, (0, 0, 0))
        out.topic('/image', 'sensor_msgs/msg/Image')
    with pytest.raises(
        BagUnreadable,
        match=r'no camera images.*/image \(sensor_msgs/msg/Image, 0 .*/odom \(nav_msgs/msg/Odometry, 1 ',
    ):
        open_bag(out.path)


@pytest.mark.parametrize('bare', [True, False])
def test_cut_off_recording_says_so_and_how_to_rescue_it(bag: Any, kind: str, t0: int, bare: bool) -> None:
    out = write(bag(kind), t0, 100)
    content = out.file.read_bytes()
    out.file.write_bytes(content[: len(content) * 2 // 3])
    path = out.file if bare else out.path
    with pytest.raises(
        BagUnreadable, match=r'cut off.*(index .*mcap recover|malformed.*\.recover|index .*rosbag reindex)'
    ):
        list(open_bag(path).events())


def test_cut_off_recording_names_the_topics_of_its_metadata(bag: Any, t0: int) -> None:
    out = write(bag('mcap'), t0)
    out.file.write_bytes(out.file.read_bytes()[:-40])
    with pytest.raises(BagUnreadable, match=r'/image \(sensor_msgs/msg/CompressedImage\)'):
        open_bag(out.path)


def test_what_lies_before_the_damage_is_delivered(bag: Any, t0: int) -> None:
    noise = bytes(range(256)) * 200
    out = write(bag('mcap', 'storage'), t0, 100, noise)
    content = bytearray(out.file.read_bytes())
    starts = [at for at in range(len(content)) if content.startswith(b'\x28\xb5\x2f\xfd', at)]  # zstd frames
    assert len(starts) > 3
    content[starts[2] + 4 : starts[2] + 40] = bytes(36)
    out.file.write_bytes(content)
    seen = []
    with open_bag(out.path) as reader, pytest.raises(BagUnreadable, match=r'damaged.*its topics: /image'):
        seen.extend(reader.events())
    assert 20 < sum(isinstance(event, Frame) for event in seen) < 100


@pytest.mark.parametrize('with_metadata', [True, False])
def test_parts_before_a_cut_off_part_are_delivered(
    bag: Any, t0: int, tmp_path: Path, with_metadata: bool
) -> None:
    path = tmp_path / 'parts'
    path.mkdir()
    for number in range(3):
        (tmp_path / f'{number}').mkdir()
        out = write(type(bag())(tmp_path / f'{number}', 'mcap'), t0 + number * 100 * S, 5)
        content = out.file.read_bytes()
        (path / f'parts_{number}.mcap').write_bytes(content if number < 2 else content[:-100])
    if with_metadata:
        names = '[parts_0.mcap, parts_1.mcap, parts_2.mcap]'
        (path / 'metadata.yaml').write_text(f'rosbag2_bagfile_information: {{relative_file_paths: {names}}}')
    seen = []
    with open_bag(path) as reader:
        assert reader.frame_count == 10
        with pytest.raises(BagUnreadable, match=r'cut off.*its topics: /image'):
            seen.extend(reader.events())
    assert sum(isinstance(event, Frame) for event in seen) == 10


def test_damage_in_a_chunk_of_ros_1_comes_after_what_is_good(bag: Any, t0: int) -> None:
    out = write(bag('ros1', 'lz4'), t0, 200, bytes(range(256)) * 200)
    content = bytearray(out.file.read_bytes())
    starts = [at for at in range(len(content)) if content.startswith(b'\x04\x22\x4d\x18', at)]
    assert len(starts) > 3
    content[starts[-1] : starts[-1] + 40] = bytes(40)
    out.file.write_bytes(content)
    seen = []
    with open_bag(out.path) as reader, pytest.raises(BagUnreadable, match='damaged'):
        seen.extend(reader.events())
    assert sum(isinstance(event, Frame) for event in seen) > 20


@pytest.mark.parametrize('tenth', range(11))
def test_cut_anywhere_is_bag_unreadable(bag: Any, kind: str, t0: int, tenth: int) -> None:
    out = write(bag(kind), t0)
    content = out.file.read_bytes()
    for length in (len(content) * tenth // 10, len(content) * tenth // 10 + 37, len(content) - 1 - tenth):
        out.file.write_bytes(content[:length])
        drain(out.file)
        drain(out.path)


@pytest.fixture(scope='module')
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Any, int], tuple[Path, bytes]]:
    made: dict[str, tuple[Path, bytes]] = {}

    def get(kind: str, start: Any, t0: int) -> tuple[Path, bytes]:
        if kind not in made:
            out = write(type(start())(tmp_path_factory.mktemp(kind), kind), t0, 8)
            made[kind] = (out.file, out.file.read_bytes())
        return made[kind]

    return get


@given(data=st.data())
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_corrupt_anywhere_is_bag_unreadable_or_read(
    bag: Any, recordings: Any, kind: str, t0: int, data: st.DataObject
) -> None:
    path, content = recordings(kind, bag, t0)
    corrupt = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(
            st.integers(0, len(content) - 1) | st.integers(max(0, len(content) - 1500), len(content) - 1)
        )
        patch = data.draw(st.binary(min_size=1, max_size=8) | st.sampled_from([b'\xff' * 8, bytes(8)]))
        corrupt[at : at + len(patch)] = patch
    path.write_bytes(corrupt)
    drain(path)
