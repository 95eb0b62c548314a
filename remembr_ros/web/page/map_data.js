// What the map shows, fetched for the box in view: never more than the cells and points that can be seen.

import { delayed } from './dom.js';

const DEBOUNCE_MS = 80; // [ms] after the view last moved
const CELL_PX = 60; // [px] memories nearer than about this become one cluster
const TRACK_POINTS = 2_000;
const LIGHT = { invert: false, darkest: '#4c5a62', lightest: '#ffffff' }; // what is occupied, and what is free
const DARK = { invert: true, darkest: '#262f35', lightest: '#93a3ab' }; // free is lighter than unknown there, too
const MARGIN = 0.25; // of the view's size, fetched around it, so that small moves need nothing

/** Cells, tracks, the grid, the situation; `changed()` when there is something new to draw, `told(text)` of failures. */
export class MapData {
  cells = [];
  cell_m = 1;
  tracks = [];
  grid = null;
  situation = { robots: [], proposal: [], goals: [], keep_out: [] };
  #page;
  #changed;
  #told;
  #later = delayed();
  #request = null;
  #asked = null; // what cells and tracks are of, or will be

  constructor(page, changed, told) {
    this.#page = page;
    this.#changed = changed;
    this.#told = told;
  }

  /** Have what the view needs, soon; `anew`: the memory has changed. */
  look(view, mapId, anew = false) {
    if (anew) this.#asked = null;
    this.#later(() => this.#fetch(view, mapId), DEBOUNCE_MS);
  }

  async #fetch(view, mapId) {
    if (document.hidden || view.width < 2) return;
    const cell = 2 ** Math.round(Math.log2(CELL_PX / view.scale));
    const scope = { ...this.#page.url.scope(), map_id: mapId };
    const what = JSON.stringify([cell, scope]);
    const [x0, y0, x1, y1] = view.box();
    const has = this.#asked;
    if (has?.what === what && has.box[0] <= x0 && has.box[1] <= y0 && has.box[2] >= x1 && has.box[3] >= y1) return;
    this.#request?.abort();
    const { signal } = (this.#request = new AbortController());
    const box = view.box(MARGIN);
    const { get } = this.#page.api;
    this.#asked = { what, box };
    try {
      const [cells, track] = await Promise.all([
        get('/api/cells', { ...scope, box: box.join(','), cell }, { signal }),
        get('/api/track', { ...scope, box: box.join(','), points: TRACK_POINTS }, { signal }),
      ]);
      this.cells = cells.cells.sort((a, b) => a[2] - b[2]); // large clusters on top
      this.cell_m = cells.cell ?? cell;
      this.tracks = track.tracks;
      this.#told(cells.total || this.tracks.length ? ''
        : `No memories in this part of the map${scope.after || scope.before ? ' in the chosen time' : ''}.`);
      this.#changed();
    } catch (error) {
      if (signal.aborted) return;
      this.#asked = null;
      this.#told(error.message);
    }
  }

  async loadSituation() {
    await this.#take('/api/situation', (situation) => (this.situation = situation));
  }

  async loadGrid() {
    await this.#take('/api/map', async (grid) => {
      if (grid?.version === this.grid?.version) return;
      if (!grid) return void (this.grid = null); // there is none any more
      const image = new Image();
      image.src = grid.image;
      await image.decode();
      this.grid = { ...grid, light: coloured(image, LIGHT), dark: coloured(image, DARK) };
    });
  }

  async #take(path, then) {
    try {
      await then(await this.#page.api.get(path));
      this.#changed();
    } catch (error) {
      console.warn(path, error.message); // what was there stays; the next event tries again
    }
  }
}

/** Return the map in other colours, `darkest` for black and `lightest` for white; what is transparent stays so. */
function coloured(image, { invert, darkest, lightest }) {
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  const ctx = canvas.getContext('2d');
  ctx.drawImage(image, 0, 0);
  for (const [operation, colour] of [['difference', invert ? '#fff' : '#000'], ['lighten', darkest], ['darken', lightest]]) {
    ctx.globalCompositeOperation = operation;
    ctx.fillStyle = colour;
    ctx.fillRect(0, 0, canvas.width, canvas.height);
  }
  ctx.globalCompositeOperation = 'destination-in';
  ctx.drawImage(image, 0, 0);
  return canvas;
}
