// What the map shows, fetched for the box in view: never more than the cells and points that can be seen.

import { delayed } from './dom.js';

const DEBOUNCE_MS = 80; // [ms] after the view last moved
const CELL_PX = 60; // [px] memories nearer than about this become one cluster
const TRACK_POINTS = 2_000;
const OBJECTS_MS = 10_000; // [ms] they are rewritten no sooner
// what is occupied, and what is free
const LIGHT = { invert: false, darkest: '#4c5a62', lightest: '#ffffff' };
// free is lighter than unknown there, too
const DARK = { invert: true, darkest: '#262f35', lightest: '#93a3ab' };
const MARGIN = 0.25; // of the view's size, fetched around it, so that small moves need nothing

/** Return cells, tracks, the grid, the situation; `changed()` when there is something new to draw,
 * `told(text)` of failures. */
export function mapData(page, changed, told) {
  const { get } = page.api;
  const later = delayed();
  let request = null;
  let asked = null; // what cells and tracks are of, or will be
  let listed = {}; // all objects of a scope, whatever is in view
  page.on('memories', ({ anew }) => (anew || Date.now() > listed.at + OBJECTS_MS) && (listed = {}));
  const data = {
    cells: [],
    objects: [],
    cell_m: 1,
    tracks: [],
    grid: null,
    situation: { robots: [], proposal: [], goals: [], keep_out: [] },
    /** Have what the view needs, soon; `anew`: the memory has changed. */
    look(view, mapId, anew = false) {
      if (anew) asked = null;
      later(() => fetchSeen(view, mapId), DEBOUNCE_MS);
    },
    loadSituation: () => take('/api/situation', (situation) => (data.situation = situation)),
    loadGrid: () => take('/api/map', async (grid) => {
      if (grid?.version === data.grid?.version) return;
      if (!grid) return void (data.grid = null); // there is none any more
      const image = new Image();
      image.src = grid.image;
      await image.decode();
      data.grid = { ...grid, light: coloured(image, LIGHT), dark: coloured(image, DARK) };
    }),
  };

  async function fetchSeen(view, mapId) {
    if (document.hidden || view.width < 2) return;
    const cell = 2 ** Math.round(Math.log2(CELL_PX / view.scale));
    const scope = { ...page.url.scope(), map: mapId };
    const { changed: since } = page.url.state();
    const what = JSON.stringify([cell, scope, since]);
    const [x0, y0, x1, y1] = view.box();
    const has = asked;
    if (has?.what === what && has.box[0] <= x0 && has.box[1] <= y0 && has.box[2] >= x1
      && has.box[3] >= y1) return;
    request?.abort();
    const { signal } = (request = new AbortController());
    const box = view.box(MARGIN);
    asked = { what, box };
    try {
      const [cells, track, things] = await Promise.all([
        since ? { cells: [] } : get('/api/cells', { ...scope, box: box.join(','), cell, objects: 0 },
          { signal }),
        get('/api/track', { ...scope, box: box.join(','), points: TRACK_POINTS }, { signal }),
        objectsOf(scope, since),
      ]);
      data.cells = cells.cells.sort((a, b) => a[2] - b[2]); // large clusters on top
      data.cell_m = cells.cell ?? cell;
      data.tracks = track.tracks;
      data.objects = things.objects;
      told(cells.total || data.tracks.length || data.objects.length ? ''
        : `No memories in this part of the map${scope.after || scope.before ? ' in the chosen time' : ''}.`);
      changed();
    } catch (error) {
      if (signal.aborted) return;
      asked = null;
      listed = {};
      told(error.message);
    }
  }

  function objectsOf({ source = 'object', camera, ...scope }, changed_since) {
    if (source !== 'object' || camera || !page.info.sources.includes('object')) return { objects: [] };
    const what = JSON.stringify([scope, changed_since]);
    if (listed.what !== what) listed = { what, at: Date.now(),
      found: get('/api/objects', { ...scope, changed_since, limit: 1_000 }) };
    return listed.found;
  }

  async function take(path, then) {
    try {
      await then(await get(path));
      changed();
    } catch (error) {
      console.warn(path, error.message); // what was there stays; the next event tries again
    }
  }

  return data;
}

/** Return the map in other colours, `darkest` for black and `lightest` for white; what is transparent stays
 * so. */
function coloured(image, { invert, darkest, lightest }) {
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  const ctx = canvas.getContext('2d');
  ctx.drawImage(image, 0, 0);
  for (const [operation, colour] of [['difference', invert ? '#fff' : '#000'], ['lighten', darkest],
    ['darken', lightest]]) {
    ctx.globalCompositeOperation = operation;
    ctx.fillStyle = colour;
    ctx.fillRect(0, 0, canvas.width, canvas.height);
  }
  ctx.globalCompositeOperation = 'destination-in';
  ctx.drawImage(image, 0, 0);
  return canvas;
}
