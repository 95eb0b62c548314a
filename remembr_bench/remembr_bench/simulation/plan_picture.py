"""The demo's picture: a plan of the building with the track, the memories, the hits and the goal."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from remembr_bench.simulation.building import Building, Place
from remembr_ros.geometry import Point, Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory

_HIT_COLOURS = ('#d1495b', '#2e7d4f', '#8e5ea2', '#e08e1b', '#1b7f9e', '#7a5230', '#5b5f97', '#b5179e')
_MARKERS = ('o', 's', '^', 'D', 'P', 'v', 'X', 'h')
_INK = '#2b2d33'
_ROOM_INK = '#6b6459'


def draw_plan(  # noqa: PLR0917
    out_png: Path,
    building: Building,
    track: Sequence[Point],
    memories: Sequence[Memory],
    hits: Mapping[str, Sequence[Hit]],
    goal: Pose | None,
    title: str,
) -> None:
    """Draw a plan as a PNG of about 1600 by 1200 pixels.

    :param out_png: the picture; its folder is made if missing
    :param track: where the robot drove, in the order of time, in the map frame [m]
    :param memories: dots; unplaced ones are left out
    :param hits: what was found, by question: each gets a colour, a number and a line in the legend
    :param goal: an arrow; None: there is none
    :param title: above the plan
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    wide, deep = building.size
    legend_in = 0.3 * len(hits)
    high_in = 9.4 + legend_in
    figure = Figure(figsize=(12.8, high_in), dpi=125, facecolor='white')
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.02, (0.45 + legend_in) / high_in, 0.96, 8.4 / high_in))
    axes.set_xlim(-0.6, wide + 0.6)
    axes.set_ylim(-1.6, deep + 0.6)
    axes.set_aspect('equal')
    axes.axis('off')
    _draw_floor(axes, building)
    _draw_labels(axes, building)
    _draw_track(axes, track)
    placed = [memory.pose for memory in memories if memory.pose is not None]
    axes.scatter(
        [pose.x for pose in placed],
        [pose.y for pose in placed],
        s=26,
        facecolor='white',
        edgecolor=_INK,
        linewidth=1.0,
        zorder=6,
        label=f'memories ({len(placed)})',
    )
    _draw_hits(axes, hits)
    if goal is not None:
        _draw_goal(axes, goal)
    _draw_scale(axes)
    axes.set_title(title, fontsize=15, color=_INK, loc='left', pad=8, fontweight='bold')
    figure.legend(
        loc='lower left', bbox_to_anchor=(0.03, 0.005), frameon=False, fontsize=10.5, labelcolor=_INK
    )
    out_png.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out_png)


def _draw_floor(axes: Any, building: Building) -> None:
    from matplotlib.patches import Rectangle

    def rectangle(low: Sequence[float], high: Sequence[float], colour: str, order: float) -> None:
        (x0, y0), (x1, y1) = low[:2], high[:2]
        axes.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor=colour, linewidth=0, zorder=order))

    rectangle((0.0, 0.0), building.size, '#e6e1d6', 0)
    for place in building.places:
        open_to_robot = place.is_corridor or not place.name.isupper()
        colour, order = ('#fbfaf6', 1.0) if open_to_robot else ('#f1e9d8', 0.5)
        rectangle(place.low, place.high, colour, order)
    for thing in building.things:
        for solid in thing.solids:
            colour = '#' + ''.join(f'{(channel + 255) // 2:02x}' for channel in solid.colour)
            rectangle(solid.low, solid.high, colour, 2 + solid.high[2] / 10)
    for wall in building.walls:
        rectangle(wall.low, wall.high, '#4a4640', 3)
    for sign in building.signs:
        rectangle(sign.panel.low, sign.panel.high, '#1d5fa8', 4)


def _draw_labels(axes: Any, building: Building) -> None:
    """Write each sign's text into the room that it stands for, or behind the wall that it hangs on."""
    places: dict[str, Place] = {place.name: place for place in building.places}
    for sign in building.signs:
        nx, ny = sign.normal
        room = places.get(sign.text) or places.get(sign.text.lower())
        if room is None:
            x, y = sign.centre[0] - 0.95 * nx, sign.centre[1] - 0.75 * ny
        elif room.name.isupper() or abs(nx) > 0.5:
            x, y = (room.low[0] + room.high[0]) / 2, (room.low[1] + room.high[1]) / 2
        else:
            x, y = sign.centre[0], sign.centre[1] + 1.1 * ny
        axes.text(
            x,
            y,
            sign.text,
            ha='center',
            va='center',
            fontsize=10,
            fontweight='bold',
            color=_ROOM_INK if room is not None and room.name.isupper() else '#1d5fa8',
            rotation=90 if room is None and abs(nx) > 0.5 else 0,
            zorder=5,
        )


def _draw_track(axes: Any, track: Sequence[Point]) -> None:
    """Draw the track, dark where it began and light where it ended."""
    from matplotlib.collections import LineCollection

    if len(track) < 2:
        return
    pieces = [((a[0], a[1]), (b[0], b[1])) for a, b in pairwise(track)]
    lines = LineCollection(pieces, cmap='viridis', linewidth=3.2, alpha=0.85, zorder=4.5, capstyle='round')
    lines.set_array([i / len(pieces) for i in range(len(pieces))])
    axes.add_collection(lines)
    axes.plot([], [], color='#3b528b', linewidth=3, label='track, from dark (start) to light (end)')
    axes.annotate(
        'start', track[0][:2], xytext=(0, 9), textcoords='offset points', fontsize=9, color=_INK, ha='center'
    )


def _draw_hits(axes: Any, by_question: Mapping[str, Sequence[Hit]]) -> None:
    for number, (question, hits) in enumerate(by_question.items()):
        colour = _HIT_COLOURS[number % len(_HIT_COLOURS)]
        marker = _MARKERS[number % len(_MARKERS)]
        poses = [hit.memory.pose for hit in hits if hit.memory.pose is not None]
        label = f'{number + 1}  {question}' if poses else f'{number + 1}  {question}  (nothing found)'
        # the deciding hit large, what else was found small
        sizes = [230.0] + [90.0] * (len(poses) - 1)
        axes.scatter(
            [pose.x for pose in poses],
            [pose.y for pose in poses],
            s=sizes[: len(poses)],
            marker=marker,
            color=colour,
            alpha=0.85,
            edgecolor='white',
            linewidth=1.2,
            zorder=7,
            label=label,
        )
        for pose in poses[:1]:
            angle = math.radians(60 + 72 * number)
            axes.annotate(
                str(number + 1),
                (pose.x, pose.y),
                xytext=(19 * math.cos(angle), 19 * math.sin(angle)),
                textcoords='offset points',
                ha='center',
                va='center',
                fontsize=11,
                fontweight='bold',
                color='white',
                bbox={'boxstyle': 'circle,pad=0.22', 'facecolor': colour, 'edgecolor': 'white'},
                zorder=9,
            )


def _draw_goal(axes: Any, goal: Pose) -> None:
    dx, dy = 1.5 * math.cos(goal.yaw), 1.5 * math.sin(goal.yaw)
    axes.annotate(
        '',
        (goal.x + dx, goal.y + dy),
        xytext=(goal.x, goal.y),
        arrowprops={'arrowstyle': '-|>,head_width=0.5,head_length=0.8', 'color': '#c1121f', 'linewidth': 3.2},
        zorder=10,
    )
    axes.scatter([goal.x], [goal.y], s=330, facecolor='none', edgecolor='#c1121f', linewidth=2.6, zorder=10)
    axes.scatter([], [], s=110, marker=r'$\rightarrow$', color='#c1121f', label='goal, with its heading')


def _draw_scale(axes: Any) -> None:
    axes.plot([0, 5], [-1.05, -1.05], color=_INK, linewidth=4, solid_capstyle='butt', zorder=5)
    axes.text(5.3, -1.05, '5 m', va='center', fontsize=10, color=_INK)
