// What part of the world the map shows: y is up (REP-103).

const LEAST = 1e-4; // [px/m] a world of 2e6 m on a small screen
const MOST = 5_000; // [px/m]
const FARTHEST = 1e7; // [m] from the origin

/** The middle in metres, a scale in px per metre, and the size in px. */
export class View {
  x = 0;
  y = 0;
  scale = 40;
  width = 1;
  height = 1;

  /** Return where on the canvas a place is. */
  screen(x, y) {
    return [(x - this.x) * this.scale + this.width / 2, this.height / 2 - (y - this.y) * this.scale];
  }

  /** Return the place at a px of the canvas. */
  world(px, py) {
    return [this.x + (px - this.width / 2) / this.scale, this.y - (py - this.height / 2) / this.scale];
  }

  /** Return [x0, y0, x1, y1] of what is seen and `margin` times its size around it. */
  box(margin = 0) {
    const [w, h] = [(this.width / this.scale) * (0.5 + margin), (this.height / this.scale) * (0.5 + margin)];
    return [this.x - w, this.y - h, this.x + w, this.y + h];
  }

  pan(dx, dy) {
    this.centre(this.x - dx / this.scale, this.y + dy / this.scale);
  }

  centre(x, y) {
    this.x = Math.max(-FARTHEST, Math.min(FARTHEST, x));
    this.y = Math.max(-FARTHEST, Math.min(FARTHEST, y));
  }

  /** Zoom so that what is at a px stays there. */
  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.world(px, py);
    this.scale = Math.min(MOST, Math.max(LEAST, this.scale * factor));
    const [nx, ny] = this.world(px, py);
    this.centre(this.x + x - nx, this.y + y - ny);
  }

  /** Show what x, y [m] and zoom, the log2 of the scale, of an address name; return whether they are
   * there. */
  take(address) {
    const [x, y, zoom] = ['x', 'y', 'zoom'].map((key) => Number.parseFloat(address[key]));
    if (![x, y, zoom].every(Number.isFinite)) return false;
    this.centre(x, y);
    this.scale = 2 ** zoom;
    this.zoom(1); // into its bounds
    return true;
  }

  /**
   * Show a box, at least 4 m of it, with room at the edges.
   * @param {number[]} least x, y [m]
   * @param {number[]} greatest x, y [m]
   */
  fit(least, greatest) {
    const [[x0, y0], [x1, y1]] = [least, greatest];
    this.centre((x0 + x1) / 2, (y0 + y1) / 2);
    const [w, h] = [Math.max(x1 - x0, 4), Math.max(y1 - y0, 4)];
    this.scale = Math.min(MOST, Math.max(LEAST, Math.min((this.width - 130) / w, (this.height - 110) / h)));
  }

  /** Show all of these places, never nearer than now, if one of them is not seen; return whether anything
   * changed. */
  bring(places) {
    const [x0, y0, x1, y1] = this.box(-0.04);
    if (places.every(([x, y]) => x >= x0 && x <= x1 && y >= y0 && y <= y1)) return false;
    const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)];
    const { scale } = this;
    this.fit([Math.min(...xs), Math.min(...ys)], [Math.max(...xs), Math.max(...ys)]);
    this.scale = Math.min(scale, this.scale);
    return true;
  }
}

/**
 * Return the least and the greatest place of a grid, which may be turned.
 * @returns {[number[], number[]]} x, y of each [m]
 */
export function gridBox({ origin: [x, y, yaw], width, height, resolution }) {
  const [w, h] = [width * resolution, height * resolution];
  const corners = [[0, 0], [w, 0], [0, h], [w, h]].map(([a, b]) =>
    [x + a * Math.cos(yaw) - b * Math.sin(yaw), y + a * Math.sin(yaw) + b * Math.cos(yaw)]);
  const edge = (pick) => [0, 1].map((axis) => pick(...corners.map((corner) => corner[axis])));
  return [edge(Math.min), edge(Math.max)];
}

/** Return a round length of at most this: 1, 2 or 5 times a power of ten. */
export function round(length) {
  const ten = 10 ** Math.floor(Math.log10(length));
  return [5, 2, 1].find((n) => n * ten <= length) * ten;
}

/** Write a length for a person. */
export const metres = (m) => (m >= 1000 ? `${+(m / 1000).toPrecision(3)} km` : m >= 1
  ? `${+m.toPrecision(3)} m`
  : `${+(m * 100).toPrecision(2)} cm`);
