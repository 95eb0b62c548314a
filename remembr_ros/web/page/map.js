// The map: one canvas, what one can do on it, and what of it is in the address.

import { copyLink, goThere, noRobot, writeNote } from './acts.js';
import { canvasPainter, colours } from './canvas.js';
import { announce, delayed, el, icon, menu } from './dom.js';
import { follow } from './gestures.js';
import { mapChoice, NO_MAP } from './map_choice.js';
import { mapData } from './map_data.js';
import { cellAt, drawMap } from './map_layers.js';
import { mapRobots } from './map_robots.js';
import { changedSince } from './objects.js';
import { gridBox, metres, View } from './map_view.js';
import { mapPicking } from './picking.js';
import { mapPlaces } from './places.js';
import { seconds } from './times.js';

const REST_MS = 400; // [ms] the view is written into the address when it rests
const TWICE_MS = 280; // [ms] a tap waits so long for a second one
const REACH_PX = 45; // [px] 'here' reaches so far from a place that was clicked
const STEP_PX = 80; // [px] an arrow key

/** Fill root; returns what others may do with the map. */
export function mountMap(root, page) {
  const { url } = page;
  const view = new View();
  const note = el('div', { class: 'map-note', role: 'status', hidden: true });
  const robots = mapRobots(page);
  const canvas = el('canvas', { tabindex: '0', role: 'application',
    'aria-label': 'Map of what the robot remembers',
    'aria-describedby': 'map-help' });
  const button = (name, label, run) => el('button',
    { type: 'button', 'aria-label': label, title: label, onclick: run }, icon(name));
  root.append(canvas,
    el('p', { id: 'map-help', class: 'unseen' },
      'Arrow keys move, plus and minus zoom, 0 shows everything, Enter asks what '
      + 'was seen at the crosshair, M opens a menu for that place. The search lists the same memories.'),
    el('div', { class: 'map-buttons' },
      button('plus', 'Zoom in', () => zoom(1.6)),
      button('minus', 'Zoom out', () => zoom(1 / 1.6)),
      button('fit', 'Show everything', () => fitAll())),
    changedSince(page), note, robots.legend);

  const scene = { view, colours: colours(), dark: false, lit: [], mark: null, place: null, cross: false,
    ofRobot: robots.colour };
  const draw = canvasPainter(canvas, (ctx, width, height) => {
    if (width !== view.width || height !== view.height) resized(width, height);
    drawMap(ctx, scene);
  });
  const data = (scene.data = mapData(page, draw, tell));
  let said = '';
  const rest = delayed();
  const tap = delayed();
  let lit = []; // on whatever map
  let showing = null; // the map that the view is of
  let placed = false; // whether the view was set at all
  let whole = true; // all there is shall be in view: nobody has chosen anything else

  const { mapId, here, area, inAddress: mapInAddress, ofPlace, list: listMaps } = mapChoice(page, data);
  const picking = mapPicking(page, canvas, show);
  const places = mapPlaces(page, picking, { here, ofPlace, inAddress: mapInAddress, data }, draw);
  Object.assign(scene, { here, places });

  function tell(text) {
    said = text;
    show();
  }

  function show() {
    const unplaced = scene.mark && !scene.mark.position ? 'This memory has no place on the map.' : '';
    const text = unplaced || said;
    if (note.contains(document.activeElement)) canvas.focus(); // its buttons are made anew
    note.hidden = !(picking.now || text);
    note.replaceChildren(...(picking.now ? picking.says() : [text]));
    draw();
  }

  function resized(width, height) {
    view.width = width;
    view.height = height;
    if (!placed || whole) fromAddress();
    data.look(view, mapId());
  }

  /** Take the view from the address, or show all there is. */
  function fromAddress() {
    placed = true;
    whole = !view.take(url.state());
    if (whole) fitAll(false);
    else moved(false);
  }

  /** Show all there is, as it becomes known, until somebody looks elsewhere. */
  const refit = () => placed && whole && fitAll(false);

  function fitAll(byHand = true) {
    const map = area();
    const robot = data.situation.robots.find(here)?.position;
    const { grid } = data;
    if (map?.low) view.fit(map.low, map.high);
    else if (grid) view.fit(...gridBox(grid));
    else view.fit(robot ?? [-5, -5], robot ?? [5, 5]);
    moved(false);
    if (!byHand) return;
    whole = true;
    url.set({ x: null, y: null, zoom: null });
  }

  function moved(byHand = true) {
    draw();
    data.look(view, mapId());
    rest(byHand && written, REST_MS);
    if (byHand) whole = false;
  }

  const written = () => url.set(inAddress());
  const exact = (m) => m.toFixed(Math.max(0, Math.ceil(Math.log10(view.scale)) + 1)); // to a tenth of a px
  const inAddress = () => ({ ...mapInAddress(), x: exact(view.x), y: exact(view.y),
    zoom: Math.log2(view.scale).toFixed(2) });

  function zoom(factor, x, y) {
    view.zoom(factor, x, y);
    moved();
  }

  const reach = () => Number((REACH_PX / view.scale).toPrecision(2));

  /** Ask what was seen around a place. */
  function seenAt(x, y, radius = reach()) {
    url.set({ view: 'search', ...mapInAddress(), near: `${exact(x)},${exact(y)}`, radius, place: null,
      memory: null }, { push: true });
    announce(`Searching within ${metres(radius)} of x ${x.toFixed(1)}, y ${y.toFixed(1)}`);
  }

  function take(px, py) {
    const [x, y] = view.world(px, py);
    if (picking.now) return picking.now.take({ x, y, radius: reach() });
    const cell = cellAt(view, data, px, py);
    if (cell?.[4]) return page.openMemory(cell[4]);
    const [cx, cy] = cell ?? [x, y];
    const radius = cell ? Math.max(Number((data.cell_m * 0.75).toPrecision(2)), 0.1) : reach();
    tap(() => seenAt(cx, cy, radius), TWICE_MS);
  }

  function openMenu(px, py) {
    tap(null);
    const [x, y] = view.world(px, py);
    const box = canvas.getBoundingClientRect();
    /** @type {import('./dom.js').Item[]} */
    const items = [{ label: 'What did you see here?', icon: 'search', run: () => seenAt(x, y) }];
    if (page.may('note')) items.push({ label: 'Leave a note here …', icon: 'note',
      run: () => writeNote(page, { x, y, ...ofPlace() }) });
    if (page.may('drive')) items.push({ label: 'Go here …', icon: 'go',
      run: () => goThere(page, { position: [x, y], ...ofPlace() }) });
    items.push(...places.items(x, y));
    if (noRobot(page)) items.push({ label: noRobot(page), icon: 'go' });
    items.push({ label: 'Copy link to this view', icon: 'link',
      run: () => copyLink(new URL(url.address(inAddress()), location.href).href) });
    menu(box.left + px, box.top + py, items);
  }

  follow(canvas, {
    drag(dx, dy) {
      view.pan(dx, dy);
      moved();
    },
    zoom,
    tap: take,
    twice(x, y) {
      tap(null);
      if (!picking.now) zoom(2, x, y);
    },
    hold: openMenu,
    hover(x, y) {
      canvas.classList.toggle('hit', !picking.now && cellAt(view, data, x, y) !== null);
    },
  });

  const KEYS = {
    ArrowLeft: () => view.pan(STEP_PX, 0),
    ArrowRight: () => view.pan(-STEP_PX, 0),
    ArrowUp: () => view.pan(0, STEP_PX),
    ArrowDown: () => view.pan(0, -STEP_PX),
    '+': () => view.zoom(1.6),
    '=': () => view.zoom(1.6),
    '-': () => view.zoom(1 / 1.6),
  };
  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [x, y] = [view.width / 2, view.height / 2];
    if (KEYS[event.key]) {
      KEYS[event.key]();
      moved();
    } else if (event.key === '0') fitAll();
    else if (event.key === 'Enter') take(x, y);
    else if (event.key === 'm' || event.key === 'ContextMenu'
      || (event.key === 'F10' && event.shiftKey)) openMenu(x, y);
    else return;
    event.preventDefault();
  });
  const crossed = () => {
    scene.cross = canvas.matches(':focus-visible');
    draw();
  };
  canvas.addEventListener('focus', crossed);
  canvas.addEventListener('blur', crossed);

  function follows(state, before = {}, popped = false) {
    scene.place = url.place();
    const { first, last } = page.info;
    const span = [seconds(state.after ?? first ?? NaN), seconds(state.before ?? last ?? NaN)];
    scene.span = span[1] > span[0] ? span : null;
    robots.list();
    listMaps();
    light();
    picking.follow(mapId() !== showing);
    const elsewhere = mapId() !== showing || (popped
      && ['x', 'y', 'zoom'].some((key) => state[key] !== before[key]));
    showing = mapId();
    if (elsewhere && placed) fromAddress();
    data.look(view, mapId());
    draw();
  }

  url.onChange(follows);
  page.on('memories', () => {
    follows(url.state(), url.state());
    refit();
    data.look(view, mapId(), true);
  });
  page.on('situation', (situation) => {
    const before = mapId();
    data.situation = situation;
    draw();
    if (mapId() === before) return;
    picking.follow(true);
    listMaps();
    showing = mapId(); // the robot went to another map
    fitAll(false);
  });
  const loadGrid = () => data.loadGrid().then(refit);
  page.on('map', loadGrid);
  page.on('back', () => {
    data.look(view, mapId());
    data.loadSituation();
    loadGrid();
  });
  page.on('theme', (dark) => {
    Object.assign(scene, { dark, colours: colours() });
    draw();
  });
  loadGrid();
  data.loadSituation().finally(() => {
    showing = mapId();
    follows(url.state(), url.state());
    refit();
  });

  function light() {
    scene.lit = lit.filter((hit) => hit.position && here(hit));
    draw();
  }

  return {
    /** Light up hits as the API gives them, here and on the timeline; [] puts them out; `still`: the view
     * stays. */
    light(hits, { still = false } = {}) {
      lit = hits;
      page.timeline?.light(hits);
      light();
      if (!still && view.bring(scene.lit.map((hit) => hit.position))) moved();
    },
    /** The name of the map that is shown; null where there is but one. */
    mapId,
    /** Return the part of the map that somebody chose, as the API names it: {map, box}, null for all. */
    inView() {
      const seen = Object.assign(new View(), { width: canvas.clientWidth, height: canvas.clientHeight });
      return { map: url.state().map ? mapId() : null,
        box: seen.take(url.state()) ? seen.box().join(',') : null };
    },
    /** Show everything. */
    fit: () => fitAll(),
    /** Mark the memory that is open or pointed at; null: none; `still`: the view stays. */
    mark(hit, { still = false } = {}) {
      scene.mark = hit;
      page.timeline?.mark(hit?.start);
      if (!still && hit?.position && !here(hit)) url.set(
        { map: hit.map || NO_MAP, x: null, y: null, zoom: null });
      if (!still && hit?.position && view.bring([hit.position])) moved();
      show();
      draw();
    },
    /** Move a place, in metres, into the middle. */
    goTo(x, y) {
      view.centre(x, y);
      moved();
    },
    /** Let a person choose a place: {x, y, radius}, or null. */
    pickPlace: () => picking.pick(),
  };
}
