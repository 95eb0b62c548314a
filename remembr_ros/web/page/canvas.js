// Drawing on a canvas: when, in which colours, and the strokes that map and timeline share.

export const ROBOT_COLOURS = ['robot-1', 'robot-2', 'robot-3', 'robot-4', 'robot-5', 'robot-6'];
const COLOURS = ['ground', 'surface', 'ink', 'soft', 'line', 'accent', 'accent-ink', 'tint', 'danger', 'good',
  'evidence', 'robot', 'old', 'middle', 'new', ...ROBOT_COLOURS];
export const FONT = 'system-ui, sans-serif';

/** Fill a path; `alpha` of 1 is opaque. */
export function fill(ctx, path, colour, alpha = 1) {
  ctx.globalAlpha = alpha;
  ctx.fillStyle = colour;
  ctx.fill(path);
  ctx.globalAlpha = 1;
}

export function stroke(ctx, path, width, colour) {
  ctx.lineWidth = width;
  ctx.strokeStyle = colour;
  ctx.stroke(path);
}

export function disc(x, y, radius) {
  const path = new Path2D();
  path.arc(x, y, radius, 0, 2 * Math.PI);
  return path;
}

/** Keep a canvas as large as its box; returns what draws it, once, when the browser next does and the page
 * is seen. */
export function canvasPainter(canvas, paint) {
  let asked = false;
  const frame = () => {
    asked = false;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width || !height) return;
    const ratio = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const ctx = canvas.getContext('2d');
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, height);
    paint(ctx, width, height);
  };
  const draw = () => {
    if (asked || document.hidden) return;
    asked = true;
    requestAnimationFrame(frame);
  };
  new ResizeObserver(draw).observe(canvas);
  document.addEventListener('visibilitychange', draw);
  return draw;
}

/** Return the page's colours by the names of its CSS variables, as a canvas wants them. */
export function colours() {
  const probe = document.getElementById('announce');
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found = Object.fromEntries(COLOURS.map((name) => [name, read(name)]));
  probe.style.color = '';
  return found;
}
