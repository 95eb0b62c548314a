// The address as the state of the page, in a window that stands in for a browser's.

import assert from 'node:assert/strict';
import { test } from 'node:test';

const listeners = {};
const visited = [];
const go = (address) => Object.assign(globalThis, { location: new URL(address, 'http://robot') });
go('/?q=red+sofa&robot=a&robot=b&near=1.5,-2&radius=3&unknown=1');
globalThis.addEventListener = (kind, fn) => (listeners[kind] = fn);
globalThis.history = {
  pushState: (state, title, address) => visited.push(address) && go(address),
  replaceState: (state, title, address) => go(address),
};
const url = await import('../../remembr_ros/web/page/url.js');

test('what the address says is what is looked at', () => {
  assert.deepEqual({ ...url.state() }, { q: 'red sofa', robot: 'a\nb', near: '1.5,-2', radius: '3' });
  assert.deepEqual(url.robots(), ['a', 'b']);
  assert.deepEqual(url.place(), { x: 1.5, y: -2, radius: 3 });
  assert.deepEqual(url.scope().robot, ['a', 'b']);
});

test('a change is told once, with what was before, and can be gone back from', () => {
  const told = [];
  url.onChange((now, before, popped) => told.push([now.q, before.q, popped]));
  url.set({ q: 'door', near: null, radius: '' }, { push: true });
  assert.equal(location.search, '?q=door&robot=a&robot=b');
  assert.equal(visited.length, 1);
  url.set({ q: 'door' });
  go('/?q=red+sofa');
  listeners.popstate();
  assert.deepEqual(told, [['door', 'red sofa', false], ['red sofa', 'door', true]]);
  assert.equal(url.place(), null);
});

test('the same state is the same object until it changes', () => {
  const before = url.state();
  url.set({ q: before.q });
  assert.equal(url.state(), before);
  url.set({ view: 'day' });
  assert.notEqual(url.state(), before);
});
