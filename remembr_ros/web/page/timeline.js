// The timeline: what was stored and done over time, on one canvas, and the window of time that all else
// shows.

import { canvasPainter, colours } from './canvas.js';
import { delayed, el, icon } from './dom.js';
import { follow } from './gestures.js';
import { foldedTime } from './timeline_folds.js';
import { BINS, drawTimeline } from './timeline_layers.js';
import { fromField, fromWall, iso, lengthName, midnight, nextMidnight, now, offset, seconds, toField, when,
  zoneName } from './times.js';

const DEBOUNCE_MS = 120; // [ms] after view or window last moved
const TYPING_MS = 400; // [ms] a date is complete when nothing more is typed
const BAR_PX = 7; // [px] a bar is at least so wide
const EDGE_PX = 7; // [px] a window is taken at its edge from so far
const EDGE_TOUCH_PX = 18;
const LEAST_S = 5; // [s] shown at least
const MOST_S = 80 * 366 * 86_400;

/** Fill root; returns what others may do with the timeline. */
export function mountTimeline(root, page) {
  const { url } = page;
  const from = el('input', { type: 'datetime-local', onchange: () => typing(() => take(from), TYPING_MS) });
  const to = el('input', { type: 'datetime-local', onchange: () => typing(() => take(to), TYPING_MS) });
  const act = (label, run, name) => el('button',
    { type: 'button', 'aria-label': name ? label : null, title: name ? label : null,
    onclick: run }, name ? icon(name) : label);
  const today = act('Today', () => choose(midnight(now()), nextMidnight(now())));
  const lastHour = act('Last hour', () => choose(latest() - 3600, latest()));
  const all = act('All', () => choose(null, null));
  const [previous, next] = [act('Previous', () => step(-1), 'prev'), act('Next', () => step(1), 'next')];
  const canvas = el('canvas', { tabindex: '0', role: 'slider', 'aria-label': 'Window of time',
    'aria-describedby': 'time-help' });
  const told = el('output', { class: 'muted' });
  root.append(
    el('div', { class: 'times' }, previous, el('label', {}, 'From ', from), el('label', {}, 'to ', to), next,
      today, lastHour, all),
    canvas, told,
    el('p', { id: 'time-help', class: 'unseen' },
      'Arrow keys move the window, with Shift its end, plus and minus zoom, 0 takes '
      + `the window away. Times are in the zone ${zoneName()}.`));

  // What is in view is in folded time, from t0 to t1; all else is in time, and px() the one way from there to
  // the canvas.
  const scene = { time: foldedTime(page.info), t0: 0, t1: 1, activity: null, window: null, lit: [],
    mark: null,
    colours: colours(), width: 1, height: 1, px: (t) =>
      ((scene.time.fold(t) - scene.t0) / (scene.t1 - scene.t0)) * scene.width };
  const draw = canvasPainter(canvas, (ctx, width, height) => {
    const first = scene.width === 1;
    Object.assign(scene, { width, height });
    if (first) look();
    drawTimeline(ctx, scene);
  });
  let whole = true; // all is shown, and so is what comes
  let request = null;
  const fetching = delayed();
  const choosing = delayed();
  const typing = delayed();
  let failed = ''; // what is said of that
  let held = null; // what a drag moves: 'view', 'window', 0 or 1: an edge

  const first = () => seconds(page.info.first ?? NaN);
  const latest = () => (page.info.last ? seconds(page.info.last) : now());
  const foldedAt = (px) => scene.t0 + (px / scene.width) * (scene.t1 - scene.t0);
  const timeAt = (px) => scene.time.unfold(foldedAt(px));
  const bin = () => {
    const least = ((scene.t1 - scene.t0) / scene.width) * BAR_PX;
    return BINS.find((s) => s >= least) ?? Math.ceil(least / 86_400) * 86_400;
  };

  function look(anew = false) {
    draw();
    fetching(() => fetchActivity(anew), DEBOUNCE_MS);
  }

  async function fetchActivity(anew) {
    if (document.hidden || scene.width < 2 || !page.info.last) return;
    const size = bin();
    const { source } = url.state();
    const robot = url.robots();
    const parts = scene.time.unfolded(scene.t0, scene.t1).map(([from, to]) => {
      const start = Math.floor(from / size) * size;
      // the API's begin with days of the robot's zone, so that it takes one more
      const bins = Math.ceil((to - start) / size) + 1;
      return { after: start, before: start + bins * size - 0.001, bins: bins + 1, robot, source };
    });
    const what = JSON.stringify(parts);
    if (!anew && scene.activity?.what === what) return;
    request?.abort();
    const { signal } = (request = new AbortController());
    try {
      const found = await Promise.all(parts.map((part) => page.api.get('/api/activity', part, { signal })));
      scene.activity = { what, parts: found.map((part) => ({ ...part, t: seconds(part.start) })) };
      if (failed) told.textContent = failed = '';
      draw();
    } catch (error) {
      if (signal.aborted) return;
      told.textContent = failed = error.message;
      if (scene.activity) scene.activity.what = ''; // is asked for again
    }
  }

  function view(t0, t1) {
    const size = Math.min(MOST_S, Math.max(LEAST_S, t1 - t0));
    const middle = (t0 + t1) / 2;
    whole = false;
    [scene.t0, scene.t1] = [middle - size / 2, middle + size / 2];
    look();
  }

  function viewAll() {
    const [a, b] = [first(), latest()].map(scene.time.fold);
    if (Number.isFinite(a)) view(a - scene.time.room, b + scene.time.room);
    else view(now() - 86_400, now()); // nothing is remembered yet
    whole = true;
  }

  const zoom = (factor, px = scene.width / 2) => {
    const t = foldedAt(px);
    view(t - (t - scene.t0) / factor, t + (scene.t1 - t) / factor);
  };

  function slide(dx) {
    const by = (dx / scene.width) * (scene.t1 - scene.t0);
    view(scene.t0 + by, scene.t1 + by);
  }

  /** Choose a window, which all else shows; null, null: all of time. `rest`: when the hand rests; `still`:
   * it is in view. */
  function choose(after, before, { rest = false, still = rest } = {}) {
    scene.window = after === null ? null : [Math.min(after, before - 1), before];
    shown();
    const write = () => url.set({ after: scene.window && iso(scene.window[0]),
      before: scene.window && iso(scene.window[1]) },
      { push: !rest });
    choosing(rest && write, DEBOUNCE_MS);
    if (!rest) write();
    if (after === null) viewAll();
    else if (!still) follows();
  }

  /** Have the window in view. */
  function follows() {
    const [a, b] = scene.window.map(scene.time.fold);
    const size = scene.t1 - scene.t0;
    if (b - a > size * 0.9 || (b - a) * scene.width < size * 12) view(a - (b - a) * 2, b + (b - a) * 2);
    else if (a < scene.t0 || b > scene.t1) view((a + b - size) / 2, (a + b + size) / 2);
  }

  function step(by) {
    const [a, b] = scene.window ?? lastBar();
    const size = scene.window ? by * (b - a) : 0;
    const gap = scene.time.gapAt(a + size);
    const way = !gap || b + size > gap.to ? size : by > 0 ? gap.to - a : gap.from - b; // over the gap
    choose(a + way, b + way);
  }

  function lastBar() {
    const size = Math.max(bin(), 60);
    const end = fromWall(Math.ceil((latest() + offset(latest())) / size) * size);
    return [end - size, end];
  }

  function take(field) {
    const [a, b] = [fromField(from.value), fromField(to.value)];
    const size = scene.window ? scene.window[1] - scene.window[0] : 3600;
    if (Number.isNaN(a) && Number.isNaN(b)) choose(null, null);
    else if (field === from && a >= 0) choose(a, a + size); // the year 20 is one of 2026 being typed
    else if (field === to && b >= 0) choose(Number.isNaN(a) || a >= b ? b - size : a, b);
  }

  function shown() {
    const [a, b] = scene.window ?? [NaN, NaN];
    const fine = b - a < 600 ? 19 : 16; // seconds only where they matter
    for (const [field, t] of [[from, a], [to, b]]) {
      field.step = fine === 19 ? '1' : '60';
      if (document.activeElement !== field) field.value = Number.isFinite(t) ? toField(t).slice(0, fine) : '';
    }
    today.disabled = !(latest() >= midnight(now()));
    lastHour.disabled = all.disabled = previous.disabled = next.disabled = !page.info.last;
    all.setAttribute('aria-pressed', String(!scene.window));
    const limits = [first(), latest()].map((t) => (Number.isFinite(t) ? t : now()));
    const [low, high] = limits.map(Math.round);
    canvas.setAttribute('aria-valuemin', low);
    canvas.setAttribute('aria-valuemax', high);
    canvas.setAttribute('aria-valuenow', Math.min(high,
      Math.max(low, Math.round(Number.isFinite(a) ? a : low))));
    canvas.setAttribute('aria-valuetext', scene.window ? `${when(a)} to ${when(b)}` : 'all of time');
    draw();
  }

  /** Return the bar at a place, [part, index]; undefined: there is none. */
  const barAt = (px) => scene.activity?.parts.map((part) =>
    [part, Math.floor((timeAt(px) - part.t) / part.bin_s)])
    .find(([{ stored }, i]) => i in stored);

  follow(canvas, {
    start(x, y, touch) {
      const [a, b] = scene.window?.map(scene.px) ?? [NaN, NaN];
      const near = Math.min(touch ? EDGE_TOUCH_PX : EDGE_PX, (b - a) / 3);
      if (Math.abs(x - b) <= near) held = 1;
      else if (Math.abs(x - a) <= near) held = 0;
      else held = x > a && x < b ? 'window' : 'view';
    },
    drag(dx, dy, x) {
      if (held === 'view') return slide(-dx);
      const [a, b] = scene.window;
      const start = timeAt(scene.px(a) + dx);
      if (held === 'window') choose(start, start + b - a, { rest: true });
      else {
        const edge = timeAt(x);
        choose(held === 0 ? Math.min(edge, b - 1) : a, held === 1 ? Math.max(edge, a + 1) : b,
          { rest: true });
      }
    },
    end: () => (held = null),
    tap(x) {
      told.textContent = inWords(x);
      const [part, i] = barAt(x) ?? [];
      if (part) choose(part.t + i * part.bin_s, part.t + (i + 1) * part.bin_s, { still: true });
    },
    twice: (x) => zoom(3, x),
    zoom,
    slide,
    hover(x) {
      const [a, b] = scene.window?.map(scene.px) ?? [NaN, NaN];
      canvas.classList.toggle('edge', Math.min(Math.abs(x - a), Math.abs(x - b)) <= EDGE_PX);
      canvas.classList.toggle('inside', x > a && x < b);
      told.textContent = inWords(x);
    },
  });
  canvas.addEventListener('pointerleave', () => (told.textContent = ''));

  function inWords(x) {
    const gap = scene.time.gapAt(timeAt(x));
    if (gap) return `${lengthName(gap.b - gap.a)} without a memory, from ${when(gap.a)} to ${when(gap.b)}`;
    const bar = barAt(x);
    if (!bar) return '';
    const [{ t, bin_s: size, stored, driving, standing, questions }, i] = bar;
    const span = (s) => (s >= 3600 ? `${(s / 3600).toFixed(1)} h` : s >= 60 ? `${Math.round(s / 60)} min`
      : `${Math.round(s)} s`);
    return [`${when(t + i * size).slice(0, -3)}: ${stored[i]} stored`,
      driving[i] && `drove ${span(driving[i])}`,
      standing[i] && `stood ${span(standing[i])}`,
        questions[i] && `${questions[i]} asked`].filter(Boolean).join(', ');
  }

  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    const [a, b] = scene.window ?? lastBar();
    if (by && event.shiftKey) choose(a, Math.max(a + 1, b + by * Math.max(1, (b - a) / 4)),
      { rest: true, still: false });
    else if (by) step(by);
    else if (event.key === '+' || event.key === '=') zoom(1.6);
    else if (event.key === '-') zoom(1 / 1.6);
    else if (event.key === 'Home') choose(first(), first() + b - a);
    else if (event.key === 'End') choose(latest() - b + a, latest());
    else if (event.key === '0') choose(null, null);
    else return;
    event.preventDefault();
  });

  function fromAddress(state, before = {}) {
    if (state.robot !== before.robot || state.source !== before.source) look();
    if (state.after === before.after && state.before === before.before) return;
    const [a, b] = [seconds(state.after ?? NaN), seconds(state.before ?? NaN)];
    const had = JSON.stringify(scene.window?.map(Math.round));
    scene.window = Number.isNaN(a) && Number.isNaN(b) ? null
      : [Number.isNaN(a) ? Math.min(first(), b - 1) : a, Number.isNaN(b) ? Math.max(latest(), a + 1) : b];
    shown();
    if (held === null && scene.window && JSON.stringify(scene.window.map(Math.round)) !== had) follows();
  }

  url.onChange(fromAddress);
  page.on('memories', () => {
    const ends = [scene.t0, scene.t1].map(scene.time.unfold);
    scene.time = foldedTime(page.info);
    [scene.t0, scene.t1] = ends.map(scene.time.fold);
    shown();
    if (whole) viewAll();
    look(true);
  });
  page.on('back', () => look());
  page.on('theme', () => {
    scene.colours = colours();
    draw();
  });
  viewAll();
  fromAddress(url.state());
  shown();

  return {
    /** Mark the moments of hits; [] takes the marks away. */
    light(hits) {
      scene.lit = hits.map(({ start }) => seconds(start));
      draw();
    },
    /** Mark the moment of the memory that is open; null: none. */
    mark(time) {
      scene.mark = time ? seconds(time) : null;
      draw();
    },
  };
}
