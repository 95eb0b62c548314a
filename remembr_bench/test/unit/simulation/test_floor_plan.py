from pathlib import Path

import cv2
import yaml

from remembr_bench.simulation.floor_plan import FREE, OCCUPIED, UNKNOWN, generate_building, write_floor_map
from remembr_bench.simulation.tour import Tour


def test_the_robot_drove_where_the_map_is_free_and_no_wall_is(tmp_path: Path) -> None:
    building = generate_building(1)
    file = write_floor_map(tmp_path, building)
    told = yaml.safe_load(file.read_text())
    cells = cv2.imread(str(tmp_path / told['image']), cv2.IMREAD_UNCHANGED)[::-1]

    def cell(x: float, y: float) -> int:
        west, south, _ = told['origin']
        return int(cells[int((y - south) / told['resolution']), int((x - west) / told['resolution'])])

    tour = Tour(building)
    poses = [tour.pose_at(second) for second in range(int(tour.duration_s))]
    assert {cell(pose.x, pose.y) for pose in poses} == {FREE}
    middles = [((w.low[0] + w.high[0]) / 2, (w.low[1] + w.high[1]) / 2) for w in building.walls]
    assert {cell(x, y) for x, y in middles} == {OCCUPIED}
    assert cells[0, 0] == cells[-1, -1] == UNKNOWN
