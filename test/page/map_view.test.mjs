// What part of the world the map shows.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { gridBox, metres, round, View } from '../../remembr_ros/web/page/map_view.js';

const near = (a, b) => a.forEach((value, i) => assert.ok(Math.abs(value - b[i]) < 1e-6, `${a} is not ${b}`));
const sized = () => Object.assign(new View(), { width: 800, height: 600 });

test('a place is where its pixel is, and y is up', () => {
  const view = sized();
  view.centre(3, -2);
  near(view.world(...view.screen(5, 7)), [5, 7]);
  assert.ok(view.screen(0, 1)[1] < view.screen(0, 0)[1]);
});

test('what is under the pointer stays there while one zooms', () => {
  const view = sized();
  const before = view.world(100, 200);
  view.zoom(3, 100, 200);
  near(view.world(100, 200), before);
});

test('a view stays in its bounds', () => {
  const view = sized();
  for (let i = 0; i < 100; i++) view.zoom(10);
  assert.equal(view.scale, 5_000);
  view.pan(-1e12, 0);
  assert.equal(view.x, 1e7);
});

test('all of a box is seen once it is fitted', () => {
  const view = sized();
  view.fit([-10, -50], [30, 20]);
  const [x0, y0, x1, y1] = view.box();
  assert.ok(x0 < -10 && y0 < -50 && x1 > 30 && y1 > 20);
});

test('an address is taken if all of it is there', () => {
  const view = sized();
  assert.equal(view.take({ x: '1', y: '2' }), false);
  assert.equal(view.take({ x: '1', y: '2', zoom: '5' }), true);
  assert.deepEqual([view.x, view.y, view.scale], [1, 2, 32]);
});

test('places that are seen move nothing, others are brought into view, never nearer than now', () => {
  const view = sized();
  assert.equal(view.bring([[0, 0], [1, 1]]), false);
  const { scale } = view;
  assert.equal(view.bring([[100, 0]]), true);
  assert.ok(view.scale <= scale);
  const [x0, , x1] = view.box();
  assert.ok(x0 < 100 && x1 > 100);
});

test('a turned grid has a box round its corners', () => {
  const grid = { origin: [1, 1, Math.PI / 2], width: 40, height: 20, resolution: 0.5 };
  const [least, greatest] = gridBox(grid);
  near(least, [-9, 1]);
  near(greatest, [1, 21]);
});

test('lengths are round, and told in a unit that fits', () => {
  assert.deepEqual([0.07, 3, 10, 740].map(round), [0.05, 2, 10, 500]);
  assert.deepEqual([0.05, 2.5, 2500].map(metres), ['5 cm', '2.5 m', '2.5 km']);
});
