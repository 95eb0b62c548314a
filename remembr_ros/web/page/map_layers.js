// What is drawn on the map, from the bottom up; all in px of the canvas.

import { disc, fill, FONT, stroke } from './canvas.js';
import { start } from './cards.js';
import { at, drawCross, drawGoal, drawName, drawObject, drawPin, drawRing, drawRobot,
  label } from './map_marks.js';
import { metres, round } from './map_view.js';
import { guess, inside } from './places.js';
import { written } from './times.js';

const STEPS = 24; // colours of a track
const DASH = [6, 4]; // [px]

/** Draw it all. `scene`: {view, data, colours, dark, span: [t0, t1], lit, mark, place, places, cross,
 * here(item), ofRobot(name)} */
export function drawMap(ctx, scene) {
  const { view, data, colours } = scene;
  ctx.fillStyle = colours.ground;
  ctx.fillRect(0, 0, view.width, view.height);
  const robots = data.situation.robots.filter(scene.here);
  const onItsMap = robots.length || !data.situation.robots.length; // grid, areas and goals are on its map
  if (onItsMap && data.grid) drawGrid(ctx, view, data.grid, scene.dark);
  else drawMesh(ctx, view, colours);
  const { keep_out: areas, goals, proposal } = onItsMap ? data.situation : {};
  const { corners, ...rooms } = scene.places;
  // smaller ones on top
  const [known, found] = [rooms.named, rooms.found].map((some) => some.filter(scene.here).toReversed());
  for (const each of known) drawArea(ctx, view, each, colours.accent, 0.1);
  for (const each of found) drawArea(ctx, view, each, colours.evidence, 0.06, DASH);
  areas?.forEach((outline) => drawArea(ctx, view, { outline }, colours.danger, 0.13, DASH));
  const ramp = timeColours(colours);
  const ofRobot = (name) => colours[scene.ofRobot(name)];
  for (const { robot, points } of data.tracks) {
    drawTrack(ctx, view, points, scene.span, ofRobot(robot) ? Array(STEPS).fill(ofRobot(robot)) : ramp);
  }
  if (scene.place) drawPlace(ctx, view, scene.place, colours);
  drawCells(ctx, view, data.cells, colours, ofRobot);
  const [things, named] = [data.objects.filter(scene.here), []];
  for (const each of things) drawObject(ctx, view, each, colours);
  for (const each of things) drawName(ctx, view, each, colours, named);
  for (const each of found) drawPlaceName(ctx, view, each, guess(each) && `${guess(each)}?`, found, data,
    { ...colours, ink: colours.evidence });
  for (const each of known) drawPlaceName(ctx, view, each, each.name, known, data,
    { ...colours, ink: colours.accent });
  drawArea(ctx, view, { outline: corners }, colours.evidence, 0.12);
  for (const [x, y] of corners) fill(ctx, disc(...view.screen(x, y), 5), colours.evidence);
  for (const hit of scene.lit) drawRing(ctx, view, hit.position, colours);
  goals?.forEach((pose) => drawGoal(ctx, view, pose, colours));
  proposal?.forEach((pose, i) => drawGoal(ctx, view, pose, colours, i + 1));
  for (const robot of robots) drawRobot(ctx, view, robot,
    { ...colours, robot: ofRobot(robot.name) ?? colours.robot },
    robots.length > 1);
  if (scene.mark?.position) drawPin(ctx, view, scene.mark, colours);
  if (scene.cross) drawCross(ctx, view, colours);
  drawScale(ctx, view, colours);
  if (data.tracks.length && scene.span && !scene.ofRobot(data.tracks[0].robot)) drawLegend(ctx, view,
    scene.span, colours);
}

/** Return the cell at a px, [x, y, count, newest, id], or null. */
export function cellAt(view, { cells, objects }, px, py) {
  let found = null;
  let nearest = Infinity;
  for (const cell of [...objects.map(({ id, position: [x, y] }) => [x, y, 1, 0, id]), ...cells]) {
    const [x, y] = view.screen(cell[0], cell[1]);
    const away = Math.hypot(px - x, py - y);
    if (away <= radiusOf(cell[2]) + 6 && away < nearest) [found, nearest] = [cell, away];
  }
  return found;
}

const radiusOf = (count) => (count === 1 ? 5 : Math.min(19, 8.5 + 3 * Math.log10(count)));

const short = (count) => (count < 1000 ? String(count) : count < 1e6 ? `${+(count / 1000).toPrecision(2)}k`
  : `${+(count / 1e6).toPrecision(2)}M`);

function timeColours(colours) {
  const [a, b, d] = [colours.old, colours.middle, colours.new].map((rgb) => rgb.match(/[\d.]+/g).map(Number));
  return Array.from({ length: STEPS }, (_, i) => {
    const at = (2 * i) / (STEPS - 1);
    const [from, to, part] = at < 1 ? [a, b, at] : [b, d, at - 1];
    return `rgb(${from.slice(0, 3).map((value, k) => Math.round(value + (to[k] - value) * part)).join(' ')})`;
  });
}

function drawGrid(ctx, view, grid, dark) {
  const [x, y, yaw] = grid.origin;
  const cell = grid.resolution * view.scale;
  const [w, h] = [grid.width * cell, grid.height * cell];
  at(ctx, view.screen(x, y), yaw, () => {
    ctx.imageSmoothingEnabled = cell < 3;
    ctx.imageSmoothingQuality = 'high';
    ctx.drawImage(dark ? grid.dark : grid.light, 0, -h, w, h);
  });
}

/** Lines at round metres, so that a place has something to be told by where there is no map. */
function drawMesh(ctx, view, colours) {
  const step = round(140 / view.scale);
  const [x0, y0, x1, y1] = view.box();
  const lines = new Path2D();
  for (let x = Math.ceil(x0 / step) * step; x <= x1; x += step) {
    lines.addPath(new Path2D(`M${Math.round(view.screen(x, 0)[0]) + 0.5} 0V${view.height}`));
  }
  for (let y = Math.ceil(y0 / step) * step; y <= y1; y += step) {
    lines.addPath(new Path2D(`M0 ${Math.round(view.screen(0, y)[1]) + 0.5}H${view.width}`));
  }
  stroke(ctx, lines, 1, colours.line);
}

/**
 * Draw a place with corners, or one around a point.
 * @param {{outline: number[][], center?: number[], radius?: number}} place in metres
 */
function drawArea(ctx, view, place, colour, alpha, dash = []) {
  const { outline, center, radius } = place;
  const [x, y] = radius ? view.screen(...center) : [0, 0];
  const area = radius ? disc(x, y, radius * view.scale) : new Path2D();
  for (const corner of outline) area.lineTo(.../** @type {[number, number]} */ (view.screen(...corner)));
  area.closePath();
  fill(ctx, area, colour, alpha);
  ctx.setLineDash(dash);
  stroke(ctx, area, 1.5, colour);
  ctx.setLineDash([]);
}

function drawTrack(ctx, view, points, span, ramp) {
  if (!points.length) return;
  const step = (t) => (span ? Math.max(0, Math.min(STEPS - 1,
    Math.floor(((t - span[0]) / (span[1] - span[0])) * STEPS))) : 0);
  ctx.lineWidth = 2;
  ctx.lineJoin = ctx.lineCap = 'round';
  ctx.globalAlpha = 0.75;
  let at = -1;
  let last = null;
  for (const [x, y, t] of points) {
    const [px, py] = view.screen(x, y);
    if (step(t) !== at) {
      if (at >= 0) ctx.stroke();
      at = step(t);
      ctx.strokeStyle = ramp[at];
      ctx.beginPath();
      if (last) ctx.moveTo(...last);
    }
    ctx.lineTo(px, py);
    last = [px, py];
  }
  ctx.stroke();
  ctx.globalAlpha = 1;
}

function drawPlace(ctx, view, { x, y, radius }, colours) {
  const around = disc(...view.screen(x, y), Math.max(6, (radius ?? 0) * view.scale));
  fill(ctx, around, colours.accent, 0.16);
  stroke(ctx, around, 2, colours.accent);
}

/** The name of a place in it and in no smaller one of `all`, where that is wide enough; beside marks, as
 * far as these leave room. */
function drawPlaceName(ctx, view, place, text, all, { cells, objects }, colours) {
  const [px, py] = view.screen(...place.center);
  if (!text || px < 0 || py < 0 || px > view.width || py > view.height) return;
  const name = start(text, 30);
  ctx.font = `12px ${FONT}`;
  const half = ctx.measureText(name).width / 2 + 3;
  const parts = all.slice(all.indexOf(place) + 1).filter(({ center }) => inside(place, ...center));
  const own = (x, y) => inside(place, x, y) && !parts.some((part) => inside(part, x, y));
  const fits = Array.from({ length: 17 }, (_, i) => py + (i % 2 ? -6 : 6) * (i + (i % 2))).filter((y) =>
    [-half, 0, half].every((dx) => [-8, 8].every((dy) => own(...view.world(px + dx, y + dy)))));
  const marks = [...cells, ...objects.map(({ position: [x, y] }) => [x, y, 1])].map(([x, y, n]) =>
    [...view.screen(x, y), radiusOf(n)]);
  const free = fits.find((y) => marks.every(([mx, my, r]) => Math.abs(mx - px) > half + r
    || Math.abs(my - y) > 8 + r)) ?? fits[0];
  if (free) label(ctx, name, px, free + 4, colours, 'center');
}

function drawCells(ctx, view, cells, colours, ofRobot) {
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  for (const [x, y, count, , , robot] of cells) {
    const [px, py] = view.screen(x, y);
    const radius = radiusOf(count);
    if (px < -radius || py < -radius || px > view.width + radius || py > view.height + radius) continue;
    const cell = disc(px, py, radius);
    fill(ctx, cell, ofRobot(robot) ?? (robot === null ? colours.soft : colours.accent));
    stroke(ctx, cell, 1.5, colours.surface);
    if (count === 1) continue;
    ctx.fillStyle = colours['accent-ink'];
    ctx.font = `600 ${count < 100 ? 11 : 10}px ${FONT}`;
    ctx.fillText(short(count), px, py + 0.5);
  }
}

function drawScale(ctx, view, colours) {
  const length = round(110 / view.scale);
  const [x, y] = [view.width - 18 - length * view.scale, view.height - 17];
  drawPlate(ctx, x, length * view.scale, view, colours);
  stroke(ctx, new Path2D(`M${x} ${y - 5}V${y}H${view.width - 18}V${y - 5}`), 2, colours.ink);
  label(ctx, metres(length), x + (length * view.scale) / 2, y - 7, colours, 'center');
}

/** What keeps letters legible over whatever lies below. */
function drawPlate(ctx, x, width, view, colours) {
  const plate = new Path2D();
  plate.roundRect(x - 9, view.height - 45, width + 18, 36, 7);
  fill(ctx, plate, colours.surface, 0.85);
}

function drawLegend(ctx, view, [t0, t1], colours) {
  const [x, y, w] = [18, view.height - 22, Math.min(210, view.width / 1.9)];
  drawPlate(ctx, x, w, view, colours);
  const ramp = ctx.createLinearGradient(x, 0, x + w, 0);
  [colours.old, colours.middle, colours.new].forEach((colour, i) => ramp.addColorStop(i / 2, colour));
  ctx.fillStyle = ramp;
  ctx.fillRect(x, y, w, 5);
  const second = t1 - t0 < 900 ? '2-digit' : undefined;
  const day = { day: 'numeric', month: 'short' };
  const clock = t1 - t0 < 2 * 86_400 ? { hour: '2-digit', minute: '2-digit', second } : { year: 'numeric' };
  const oneDay = clock.hour && written(t0, day) === written(t1, day);
  label(ctx, written(t0, { ...day, year: 'numeric', ...clock }), x, y - 6, colours, 'left');
  label(ctx, written(t1, oneDay ? clock : { ...day, ...clock }), x + w, y - 6, colours, 'right');
}
