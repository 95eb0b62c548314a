"""The camera's images, rendered off screen by VTK from coloured surfaces, without X server and GPU."""

import importlib.util
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from remembr_bench.simulation.building import WALL_HEIGHT_M, Building, Colour, SignPanel, Solid
from remembr_bench.simulation.sight import DEPTH_DIVISOR, FOCAL_PX, HEIGHT, WIDTH, optical_centre
from remembr_bench.simulation.surfaces import Array, coloured_surface
from remembr_ros.errors import RemembrError
from remembr_ros.geometry import Point, Pose
from remembr_ros.images import Bgr

NEAR_M, FAR_M = 0.05, 40.0

_TILE_M = 0.6
LENS_BLUR_PX = 0.9
_SKY: Colour = (205, 222, 236)
_FLOOR: Colour = (168, 160, 148)
_GROUT: Colour = (138, 131, 121)
_CEILING: Colour = (238, 238, 236)
_LAMP: Colour = (255, 254, 246)
_BASEBOARD: Colour = (96, 90, 84)


@dataclass(frozen=True, slots=True)
class Shot:
    """What the camera took at one moment.

    :param bgr: shape (480, 640, 3)
    :param depth_mm: shape (120, 160): distance along the optical axis [mm]; 0: nothing within FAR_M
    """

    bgr: Bgr
    depth_mm: NDArray[np.uint16]


class Renderer:
    """Renders one building; a context manager, which gives the memory back.

    :raises RemembrError: pyvista or matplotlib is not installed
    """

    def __init__(self, building: Building) -> None:
        with off_screen(WIDTH, HEIGHT, FOCAL_PX) as plotter:
            self._plotter = plotter
            plotter.background_color = _SKY
            self._add_shell(building)
            self._add_solids(building)
            for sign in building.signs:
                self._add_sign(sign)

    def __enter__(self) -> 'Renderer':
        return self

    def __exit__(self, *_: object) -> None:
        self._plotter.close()

    def shoot(self, pose: Pose) -> Shot:
        """Return what the camera sees when base_link is at a pose of the map frame."""
        eye = optical_centre(pose)
        render(self._plotter, eye, (math.cos(pose.yaw), math.sin(pose.yaw), 0.0), (0.0, 0.0, 1.0))
        return Shot(self._colour(), self._depth())

    def _colour(self) -> Bgr:
        sharp: Bgr = np.ascontiguousarray(colours_of(self._plotter)[:, :, ::-1])
        # no lens is as sharp as a rasteriser; and it takes the steps out of slanted edges
        blurred: Any = cv2.GaussianBlur(sharp, (0, 0), LENS_BLUR_PX)
        return blurred  # type: ignore[no-any-return]

    def _depth(self) -> NDArray[np.uint16]:
        half = DEPTH_DIVISOR // 2
        metres = metres_of(self._plotter)[half::DEPTH_DIVISOR, half::DEPTH_DIVISOR]
        return np.round(metres * 1000.0).astype(np.uint16)

    def _add_shell(self, building: Building) -> None:
        """Add the tiled floor, and the ceiling with its lamps."""
        import pyvista

        wide, deep = building.size
        tile = np.empty((64, 64, 3), np.uint8)
        tile[:] = _FLOOR
        tile[:2] = tile[:, :2] = _GROUT
        texture = _texture(tile)
        texture.repeat = True
        floor = _quad((0, 0, 0), (wide, 0, 0), (wide, deep, 0), (0, deep, 0))
        floor.active_texture_coordinates = (
            np.array([[0, 0], [wide, 0], [wide, deep], [0, deep]], np.float32) / _TILE_M
        )
        self._plotter.add_mesh(floor, texture=texture, lighting=False)
        top = WALL_HEIGHT_M
        ceiling = _quad((0, 0, top), (0, deep, top), (wide, deep, top), (wide, 0, top))
        self._plotter.add_mesh(ceiling, color=_CEILING, lighting=False)
        lamps = [
            Solid((x - 0.6, y - 0.3, top - 0.03), (x + 0.6, y + 0.3, top - 0.01), _LAMP)
            for place in building.places
            if place.is_corridor or not place.name.isupper()
            for x in np.arange(place.low[0] + 1.5, place.high[0] - 0.9, 3.0)
            for y in np.arange(place.low[1] + 1.5, place.high[1] - 0.9, 3.0)
        ]
        points, polygons, _ = coloured_surface(lamps)
        self._plotter.add_mesh(pyvista.PolyData(points, faces=polygons), color=_LAMP, lighting=False)

    def _add_solids(self, building: Building) -> None:
        """Add all solids as one mesh: few draw calls are fast ones."""
        import pyvista

        solids = list(building.solids())
        for wall in building.walls:
            (x0, y0, _), (x1, y1, _) = wall.low, wall.high
            solids.append(Solid((x0 - 0.012, y0 - 0.012, 0.0), (x1 + 0.012, y1 + 0.012, 0.1), _BASEBOARD))
        points, polygons, colours = coloured_surface(solids)
        surface = pyvista.PolyData(points, faces=polygons)
        surface.point_data['rgb'] = colours
        self._plotter.add_mesh(surface, scalars='rgb', rgb=True, lighting=False)

    def _add_sign(self, sign: SignPanel) -> None:
        texture = _texture(draw_sign_face(sign))
        for back in (False, True) if sign.two_sided else (False,):
            side, out = (-1, -0.022) if back else (1, 0.022)
            unit = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
            face = _quad(*(sign.point(side * u, v, out) for u, v in unit))
            face.active_texture_coordinates = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
            self._plotter.add_mesh(face, texture=texture, lighting=False)


@contextmanager
def off_screen(width: int, height: int, focal_px: float) -> Iterator[Any]:
    """Yield a plotter without lights, to be filled with what there is to see; then it is ready to render.

    :raises RemembrError: pyvista or matplotlib is not installed
    """
    if any(importlib.util.find_spec(package) is None for package in ('pyvista', 'matplotlib')):
        raise RemembrError('rendering needs what is missing here: pip install pyvista matplotlib')
    import pyvista
    from vtkmodules.vtkCommonCore import vtkLogger

    pyvista.OFF_SCREEN = True
    # Without an X server VTK warns, and then takes EGL or OSMesa, which is what is wanted.
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)
    try:
        plotter: Any = pyvista.Plotter(off_screen=True, window_size=[width, height], lighting='none')
        # multi-sampling costs more than all the rest of a frame
        plotter.render_window.SetMultiSamples(0)
        plotter.camera.view_angle = math.degrees(2 * math.atan(height / 2 / focal_px))
        yield plotter
        plotter.show(auto_close=False, interactive=False)
    finally:
        vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_INFO)


def render(plotter: Any, eye: Sequence[float] | Array, ahead: Point, up: Point) -> None:
    """Render what is seen from a place [m] in a direction."""
    camera = plotter.camera
    camera.position = tuple(eye)
    camera.focal_point = tuple(np.add(eye, ahead))
    camera.up = up
    camera.clipping_range = (NEAR_M, FAR_M)
    plotter.render_window.Render()


def colours_of(plotter: Any) -> NDArray[np.uint8]:
    """Return what was rendered: shape (height, width, 3), red first."""
    from vtkmodules.vtkCommonCore import vtkUnsignedCharArray

    values: Any = vtkUnsignedCharArray()
    width, height = plotter.window_size
    plotter.render_window.GetPixelData(0, 0, width - 1, height - 1, 0, values, 0)
    return np.frombuffer(values, np.uint8).reshape(height, width, 3)[::-1]  # row 0 is at the bottom


def metres_of(plotter: Any) -> NDArray[np.float64]:
    """Return the distances along the optical axis [m], shape (height, width); 0: nothing within FAR_M."""
    from vtkmodules.vtkCommonCore import vtkFloatArray

    values: Any = vtkFloatArray()
    width, height = plotter.window_size
    plotter.render_window.GetZbufferData(0, 0, width - 1, height - 1, values)
    z = np.frombuffer(values, np.float32).reshape(height, width)[::-1].astype(np.float64)
    # The perspective division is undone.
    return np.where(z < 1.0, NEAR_M * FAR_M / (FAR_M - z * (FAR_M - NEAR_M)), 0.0)


def _texture(image: NDArray[np.uint8]) -> Any:
    """Return an image for a face, smooth at all distances."""
    import pyvista

    make: Any = pyvista.Texture
    texture = make(image)
    texture.mipmap = True
    texture.interpolate = True
    return texture


def _quad(*corners: tuple[float, float, float]) -> Any:
    import pyvista

    return pyvista.PolyData(np.array(corners, np.float64), faces=[4, 0, 1, 2, 3])


_PX_PER_LETTER_HEIGHT = 96  # of what is printed on a sign


def draw_sign_face(sign: SignPanel) -> NDArray[np.uint8]:
    """Return the printed face.

    :return: shape (height, width, 3), red first, in the proportions of the sign
    """
    import matplotlib
    from PIL import Image, ImageDraw, ImageFont

    scale = _PX_PER_LETTER_HEIGHT / sign.letter_height_m
    width, height = round(sign.width_m * scale), round(sign.height_m * scale)
    font = ImageFont.truetype(
        str(Path(matplotlib.get_data_path()) / 'fonts' / 'ttf' / 'DejaVuSans-Bold.ttf'), 200
    )
    # a wider gap than the font's own, so that a reader does not take two words for one
    text = sign.text.replace(' ', '  ')
    left, top, right, bottom = font.getbbox(text)
    line = Image.new('L', (int(right - left), int(bottom - top)), 0)
    ImageDraw.Draw(line).text((-left, -top), text, fill=255, font=font)
    wanted = min(width - _PX_PER_LETTER_HEIGHT, round(line.width * _PX_PER_LETTER_HEIGHT / line.height))
    line = line.resize((wanted, _PX_PER_LETTER_HEIGHT), Image.Resampling.LANCZOS)
    face = Image.new('RGB', (width, height), sign.ink)
    border = max(3, _PX_PER_LETTER_HEIGHT // 16)
    face.paste(sign.paper, (border, border, width - border, height - border))
    face.paste(sign.ink, ((width - line.width) // 2, (height - line.height) // 2), line)
    return np.asarray(face, dtype=np.uint8)
