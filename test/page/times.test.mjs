// Moments in words and in fields, in the robot's zone.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import * as times from '../../remembr_ros/web/page/times.js';

const NOON = Date.UTC(2026, 10, 23, 12) / 1000;

afterEach(() => times.setClock('', ''));

test('a moment is written in the zone of the robot', () => {
  times.setClock('', 'Asia/Tokyo');
  assert.equal(times.when(NOON), 'Mon, 23 Nov 2026, 21:00:00');
  assert.equal(times.when('2026-11-23T12:00:00Z'), times.when(NOON));
  assert.equal(times.zoneName(), 'Asia/Tokyo');
});

test('a zone that the browser does not know is that of the viewer', () => {
  times.setClock('', 'Mars/Olympus');
  assert.equal(times.zoneName(), new Intl.DateTimeFormat().resolvedOptions().timeZone);
});

test('the clock of the robot counts, and not that of the viewer', () => {
  times.setClock('2020-01-01T00:00:00Z', 'UTC');
  assert.ok(Math.abs(times.now() - Date.UTC(2020, 0, 1) / 1000) < 5);
  assert.equal(times.ago(times.now() - 300), '5 minutes ago');
  assert.equal(times.ago('no time'), '');
});

test('what a field holds comes back, also when clocks are changed', () => {
  times.setClock('', 'Europe/Berlin');
  const begin = Date.UTC(2026, 9, 24, 20) / 1000; // clocks go back on the 25th
  for (let t = begin; t < begin + 86_400; t += 1800) {
    const field = times.toField(t);
    assert.equal(times.toField(times.fromField(field)), field);
  }
  assert.ok(Number.isNaN(times.fromField('')));
});

test('a day has 23 to 25 hours', () => {
  times.setClock('', 'Europe/Berlin');
  const hours = (noon) => (times.nextMidnight(noon) - times.midnight(noon)) / 3600;
  assert.equal(hours(Date.UTC(2026, 9, 25, 12) / 1000), 25);
  assert.equal(hours(Date.UTC(2026, 2, 29, 12) / 1000), 23);
  assert.equal(hours(NOON), 24);
});

test('lengths are told in the largest unit of which there are two', () => {
  assert.equal(times.lengthName(30), '30 seconds');
  assert.equal(times.lengthName(3 * 86_400), '3 days');
});
