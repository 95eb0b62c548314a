// Pointer, touch and wheel on a canvas, as the map and the timeline take them.

import { delayed } from './dom.js';

const SLOP_PX = 5; // [px] less is a tap, not a drag
const HOLD_MS = 550; // [ms] a finger that rests
const TWICE_MS = 300; // [ms] between the two of a double tap

/**
 * Follow a canvas. `on`, all in px of the canvas: start(x, y, touch), drag(dx, dy, x, y), end(), tap(x, y),
 * twice(x, y), hold(x, y): right click or a resting finger, zoom(factor, x, y), slide(dx): sideways by wheel,
 * hover(x, y).
 */
export function follow(canvas, on) {
  const fingers = new Map();
  let moved = false;
  const resting = delayed();
  let tapped = null;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const middle = () => {
    const [a, b] = [...fingers.values()];
    return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, Math.hypot(a[0] - b[0], a[1] - b[1])];
  };

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button > 0) return;
    canvas.setPointerCapture(event.pointerId);
    const [x, y] = at(event);
    fingers.set(event.pointerId, [x, y]);
    moved = fingers.size > 1;
    resting(null);
    if (fingers.size > 1) return;
    on.start?.(x, y, event.pointerType !== 'mouse');
    if (event.pointerType === 'mouse') return;
    resting(() => {
      moved = true;
      on.hold?.(x, y);
    }, HOLD_MS);
  });

  canvas.addEventListener('pointermove', (event) => {
    const [x, y] = at(event);
    const from = fingers.get(event.pointerId);
    if (!from) return void on.hover?.(x, y);
    if (!moved && Math.hypot(x - from[0], y - from[1]) < SLOP_PX) return;
    moved = true;
    resting(null);
    if (fingers.size === 2) {
      const [x0, y0, apart0] = middle();
      fingers.set(event.pointerId, [x, y]);
      const [x1, y1, apart1] = middle();
      on.drag?.(x1 - x0, y1 - y0, x1, y1);
      if (apart0 > 10) on.zoom?.(apart1 / apart0, x1, y1);
    } else {
      fingers.set(event.pointerId, [x, y]);
      on.drag?.(x - from[0], y - from[1], x, y);
    }
  });

  const up = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    resting(null);
    if (fingers.size) return;
    on.end?.();
    if (moved || event.type === 'pointercancel') return;
    const [x, y] = at(event);
    const again = tapped && event.timeStamp - tapped[2] < TWICE_MS
      && Math.hypot(x - tapped[0], y - tapped[1]) < 25;
    tapped = again ? null : [x, y, event.timeStamp];
    (again ? on.twice : on.tap)?.(x, y);
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  // No click after a touch: it would hit what the tap has just opened over the canvas.
  canvas.addEventListener('touchend', (event) => event.preventDefault(), { passive: false });
  canvas.addEventListener('contextmenu', (event) => {
    event.preventDefault();
    if (event.pointerType === 'mouse' || event.pointerType === undefined) on.hold?.(...at(event));
  });
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const unit = event.deltaMode ? 20 : 1; // lines or px
    if (on.slide && (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))) {
      on.slide((event.deltaX || event.deltaY) * unit);
    } else {
      on.zoom?.(Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0018)), ...at(event));
    }
  }, { passive: false });
}
