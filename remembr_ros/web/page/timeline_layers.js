// What is drawn on the timeline; in px of the canvas.

import { disc, fill, FONT, stroke } from './canvas.js';
import { fromWall, lengthName, offset, written } from './times.js';

const DAY = 86_400;

/** [s] How much time a bar, or the way from one tick to the next, may be: as the API rounds it. */
export const BINS = [1, 5, 15, 60, 300, 900, 3600, 10_800, 21_600, DAY, 7 * DAY, 30 * DAY];

const TICK_PX = 84;
const GAP_PX = 52; // a gap of less has no words
const AXIS_PX = 20; // below: times
const MOTION_PX = 5; // above it: driving and standing
const MARKS_PX = 12; // at the top: questions and evidence

/** Draw it all. `scene`: {time, t0, t1, px, activity, window, lit, mark, colours, width, height} */
export function drawTimeline(ctx, scene) {
  const { px, window: chosen, height, colours } = scene;
  const floor = height - AXIS_PX - MOTION_PX - 2;
  if (chosen) {
    ctx.fillStyle = colours.tint;
    ctx.fillRect(px(chosen[0]), 0, Math.max(2, px(chosen[1]) - px(chosen[0])), height - AXIS_PX);
  }
  drawAxis(ctx, scene, floor);
  const most = Math.max(1, ...(scene.activity?.parts ?? []).flatMap(({ stored }) => stored));
  for (const part of scene.activity?.parts ?? []) drawBars(ctx, scene, part, most, floor);
  if (chosen) drawWindow(ctx, px(chosen[0]), px(chosen[1]), height - AXIS_PX, colours);
  for (const t of scene.lit) drawMoment(ctx, px(t), floor, colours.evidence);
  if (scene.mark !== null) drawMoment(ctx, px(scene.mark), floor, colours.danger);
}

function drawMoment(ctx, x, floor, colour) {
  ctx.fillStyle = colour;
  ctx.fillRect(x - 1, 2, 2, floor - 2);
  ctx.fill(new Path2D(`M${x - 5} 0H${x + 5}L${x} 8Z`));
}

function drawBars(ctx, { px, width, window: chosen, colours }, part, most, floor) {
  const { t, bin_s: size, stored, driving, standing, questions } = part;
  for (let i = 0; i < stored.length; i++) {
    const start = t + i * size;
    const x = px(start);
    const wide = Math.max(1, px(start + size) - x - 1);
    if (x + wide < 0 || x > width) continue;
    const within = !chosen || (start < chosen[1] && start + size > chosen[0]);
    if (stored[i]) {
      // a root: few are seen beside many
      const tall = Math.max(3, Math.sqrt(stored[i] / most) * (floor - MARKS_PX));
      ctx.globalAlpha = within ? 0.9 : 0.35;
      ctx.fillStyle = colours.accent;
      ctx.fillRect(x, floor - tall, wide, tall);
    }
    const active = (driving[i] + standing[i]) / size;
    if (active > 0) {
      ctx.globalAlpha = within ? 1 : 0.45;
      const drove = (wide + 1) * Math.min(1, driving[i] / size);
      ctx.fillStyle = colours.line;
      ctx.fillRect(x, floor + 2, (wide + 1) * Math.min(1, active), MOTION_PX);
      ctx.fillStyle = colours.good;
      ctx.fillRect(x, floor + 2, drove, MOTION_PX);
    }
    ctx.globalAlpha = 1;
    if (questions[i]) fill(ctx, disc(x + wide / 2, 6, 3.5), colours.danger);
  }
}

function drawWindow(ctx, a, b, bottom, colours) {
  ctx.fillStyle = colours.accent;
  for (const x of [a, Math.max(b, a + 2)]) {
    ctx.fillRect(x - 1, 0, 2, bottom);
    ctx.beginPath();
    ctx.roundRect(x - 4, bottom / 2 - 11, 8, 22, 4);
    ctx.fill();
  }
}

function drawAxis(ctx, { time, t0, t1, px, width, height, colours }, floor) {
  const least = ((t1 - t0) / width) * TICK_PX;
  const step = BINS.find((s) => s >= least) ?? Math.ceil(least / (365 * DAY)) * 365 * DAY;
  ctx.font = `11px ${FONT}`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  for (const [from, to] of time.unfolded(t0, t1)) {
    const first = Math.floor((from + offset(from)) / step) * step;
    // the clock may be changed
    for (let wall = first, t = fromWall(wall); t < to; wall += step, t = fromWall(wall)) {
      if (time.gapAt(t)) continue;
      const whole = wall % DAY === 0;
      const x = Math.round(px(t)) + 0.5;
      stroke(ctx, new Path2D(`M${x} ${whole ? 0 : floor - 4}V${height}`), 1, colours.line);
      ctx.fillStyle = whole ? colours.ink : colours.soft;
      ctx.fillText(tickName(t, step, whole), x + 4, height - AXIS_PX / 2 + 1);
    }
  }
  for (const gap of time.folds) drawGap(ctx, gap, { px, height, colours });
}

function drawGap(ctx, { a, b, from, to }, { px, height, colours }) {
  const [x, end] = [px(from), px(to)];
  ctx.fillStyle = colours.line;
  ctx.fillRect(x, 0, end - x, height - AXIS_PX);
  if (end - x < GAP_PX) return;
  ctx.fillStyle = colours.ink;
  ctx.textAlign = 'center';
  const words = [lengthName(b - a), 'without', 'a memory',
    `to ${written(b, { day: 'numeric', month: 'short' })}`];
  words.forEach((line, i) => ctx.fillText(line, (x + end) / 2, 12 + 14 * i));
}

function tickName(t, step, whole) {
  if (step >= 30 * DAY) return written(t, { month: 'short', year: 'numeric' });
  if (whole) return written(t, { weekday: 'short', day: 'numeric', month: 'short' });
  return written(t, { hour: '2-digit', minute: '2-digit', ...(step < 60 ? { second: '2-digit' } : {}) });
}
