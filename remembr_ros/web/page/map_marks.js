// What marks single places on the map; in px of the canvas.

export const FONT = 'system-ui, sans-serif';

export function disc(ctx, x, y, radius) {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
}

export function drawRing(ctx, view, [x, y], c) {
  const [px, py] = view.screen(x, y);
  for (const [radius, width, colour] of [[11, 5, c.surface], [11, 3, c.evidence]]) {
    disc(ctx, px, py, radius);
    ctx.lineWidth = width;
    ctx.strokeStyle = colour;
    ctx.stroke();
  }
  disc(ctx, px, py, 4);
  ctx.fillStyle = c.evidence;
  ctx.fill();
}

export function drawGoal(ctx, view, { position: [x, y], yaw }, colour, surface, number = '') {
  const [px, py] = view.screen(x, y);
  ctx.save();
  ctx.translate(px, py);
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = 2.5;
  if (Number.isFinite(yaw)) {
    ctx.rotate(-yaw);
    ctx.beginPath();
    ctx.moveTo(22, 0);
    ctx.lineTo(13, -5);
    ctx.lineTo(13, 5);
    ctx.fill();
    ctx.rotate(yaw);
  }
  disc(ctx, 0, 0, 10);
  ctx.fillStyle = surface;
  ctx.fill();
  ctx.setLineDash(number ? [4, 3] : []);
  ctx.stroke();
  ctx.fillStyle = colour;
  if (number) {
    ctx.font = `700 11px ${FONT}`;
    ctx.textAlign = 'center';
    ctx.textBaseline = 'middle';
    ctx.fillText(number, 0, 0.5);
  } else {
    disc(ctx, 0, 0, 4);
    ctx.fill();
  }
  ctx.restore();
}

export function drawRobot(ctx, view, { name, position: [x, y], yaw }, c, named) {
  const [px, py] = view.screen(x, y);
  ctx.save();
  ctx.translate(px, py);
  ctx.rotate(-(yaw ?? 0));
  ctx.beginPath();
  ctx.moveTo(15, 0);
  ctx.lineTo(-9, -10);
  ctx.lineTo(-4.5, 0);
  ctx.lineTo(-9, 10);
  ctx.closePath();
  ctx.lineJoin = 'round';
  ctx.lineWidth = 5;
  ctx.strokeStyle = c.surface;
  ctx.stroke();
  ctx.fillStyle = c.robot;
  ctx.fill();
  ctx.restore();
  if (named) label(ctx, name, px, py + 24, c, 'center');
}

export function drawPin(ctx, view, { position: [x, y] }, c) {
  const [px, py] = view.screen(x, y);
  ctx.save();
  ctx.translate(px, py);
  ctx.beginPath();
  ctx.moveTo(0, 0);
  ctx.bezierCurveTo(-4, -10, -11, -14, -11, -22);
  ctx.arc(0, -22, 11, Math.PI, 0);
  ctx.bezierCurveTo(11, -14, 4, -10, 0, 0);
  ctx.fillStyle = c.danger;
  ctx.fill();
  ctx.lineWidth = 2;
  ctx.strokeStyle = c.surface;
  ctx.stroke();
  disc(ctx, 0, -22, 4);
  ctx.fillStyle = c.surface;
  ctx.fill();
  ctx.restore();
}

export function drawCross(ctx, view, c) {
  const [x, y] = [view.width / 2, view.height / 2];
  for (const [width, colour] of [[4, c.surface], [1.5, c.ink]]) {
    ctx.lineWidth = width;
    ctx.strokeStyle = colour;
    ctx.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      ctx.moveTo(x + 5 * dx, y + 5 * dy);
      ctx.lineTo(x + 15 * dx, y + 15 * dy);
    }
    ctx.stroke();
  }
}

export function label(ctx, text, x, y, c, align) {
  ctx.font = `12px ${FONT}`;
  ctx.textAlign = align;
  ctx.textBaseline = 'alphabetic';
  ctx.lineWidth = 3;
  ctx.lineJoin = 'round';
  ctx.strokeStyle = c.surface;
  ctx.strokeText(text, x, y);
  ctx.fillStyle = c.ink;
  ctx.fillText(text, x, y);
}
