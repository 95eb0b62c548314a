// What marks single places on the map; in px of the canvas.

import { disc, fill, FONT, stroke } from './canvas.js';
import { start } from './cards.js';

const [SPOT, GOAL, RING] = [disc(0, 0, 4), disc(0, 0, 10), disc(0, 0, 11)];
const ROBOT = new Path2D('M15 0L-9 -10L-4.5 0L-9 10Z');
const HEADING = new Path2D('M22 0L13 -5V5Z');
const PIN = new Path2D('M0 0C-4 -10 -11 -14 -11 -22A11 11 0 0 1 11 -22C11 -14 4 -10 0 0Z');
const ARROW = new Path2D('M-10 0L-18 -5V5Z');
const BOX = new Path2D('M-8 -8H8V8H-8Z');
const CROSS = new Path2D('M5 0H15M-5 0H-15M0 5V15M0 -5V-15');

/** Draw with a place as the origin, and x along a heading. */
export function at(ctx, [px, py], yaw, draw) {
  ctx.save();
  ctx.translate(px, py);
  ctx.rotate(-(yaw ?? 0));
  ctx.lineJoin = 'round';
  draw();
  ctx.restore();
}

/** A memory that an answer rests on, or that was found. */
export function drawRing(ctx, view, [x, y], colours) {
  at(ctx, view.screen(x, y), 0, () => {
    stroke(ctx, RING, 5, colours.surface);
    stroke(ctx, RING, 3, colours.evidence);
    fill(ctx, SPOT, colours.evidence);
  });
}

/** A thing, and from where it moved; faded where it is not any more. */
export function drawObject(ctx, view, { name, presence, history, position: [x, y] }, colours) {
  const { from: [fx, fy] } = history.findLast(({ event }) => event === 'moved') ?? { from: [x, y] };
  const length = Math.hypot(x - fx, y - fy) * view.scale;
  at(ctx, view.screen(x, y), Math.atan2(y - fy, x - fx), () => {
    if (!length) return;
    stroke(ctx, new Path2D(`M${-length} 0H-16`), 2, colours.evidence);
    fill(ctx, ARROW, colours.evidence);
  });
  at(ctx, view.screen(x, y), 0, () => {
    const alpha = presence === 'missing' ? 0.4 : 1;
    fill(ctx, BOX, colours.surface, alpha);
    ctx.globalAlpha = alpha;
    stroke(ctx, BOX, 2, colours.ink);
    label(ctx, [...name][0].toUpperCase(), 0, 4.5, colours, 'center');
  });
}

/** The name of a thing, where those of `named` leave room. */
export function drawName(ctx, view, { name, presence, position: [x, y] }, colours, named) {
  const [px, py] = view.screen(x, y);
  if (named.some(([other, line]) => Math.abs(other - px) < 70 && Math.abs(line - py) < 16)) return;
  named.push([px, py]);
  label(ctx, `${start(name, 14)}${presence === 'missing' ? ' (gone)' : ''}`, px, py + 22, colours, 'center');
}

/** Where the robot was sent; with a number: where it would go, in this order. */
export function drawGoal(ctx, view, { position: [x, y], yaw }, colours, number = 0) {
  const colour = number ? colours.evidence : colours.good;
  at(ctx, view.screen(x, y), yaw, () => {
    if (Number.isFinite(yaw)) fill(ctx, HEADING, colour);
    fill(ctx, GOAL, colours.surface);
    if (number) ctx.setLineDash([4, 3]);
    stroke(ctx, GOAL, 2.5, colour);
    if (!number) fill(ctx, SPOT, colour);
  });
  if (number) label(ctx, String(number), ...view.screen(x, y - 4 / view.scale), colours, 'center');
}

export function drawRobot(ctx, view, { name, position: [x, y], yaw }, colours, named) {
  const [px, py] = view.screen(x, y);
  at(ctx, [px, py], yaw, () => {
    stroke(ctx, ROBOT, 5, colours.surface);
    fill(ctx, ROBOT, colours.robot);
  });
  if (named) label(ctx, name, px, py + 24, colours, 'center');
}

/** The memory that is open. */
export function drawPin(ctx, view, { position: [x, y] }, colours) {
  const [px, py] = view.screen(x, y);
  at(ctx, [px, py], 0, () => {
    fill(ctx, PIN, colours.danger);
    stroke(ctx, PIN, 2, colours.surface);
  });
  at(ctx, [px, py - 22], 0, () => fill(ctx, SPOT, colours.surface));
}

/** The place that the keyboard acts on. */
export function drawCross(ctx, view, colours) {
  at(ctx, [view.width / 2, view.height / 2], 0, () => {
    stroke(ctx, CROSS, 4, colours.surface);
    stroke(ctx, CROSS, 1.5, colours.ink);
  });
}

export function label(ctx, text, x, y, colours, align) {
  ctx.font = `12px ${FONT}`;
  ctx.textAlign = align;
  ctx.textBaseline = 'alphabetic';
  ctx.lineWidth = 3;
  ctx.lineJoin = 'round';
  ctx.strokeStyle = colours.surface;
  ctx.strokeText(text, x, y);
  ctx.fillStyle = colours.ink;
  ctx.fillText(text, x, y);
}
