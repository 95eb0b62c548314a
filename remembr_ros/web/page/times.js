// Moments as people write them: in the zone of the robot where the server tells it, else in the viewer's.

let zone; // undefined: the viewer's
let ahead = 0; // [ms] the robot's clock is ahead of this one by so much

/** Tell where and when the robot is; `now` ISO, `name` an IANA zone or ''. */
export function setClock(now, name) {
  ahead = now ? Date.parse(now) - Date.now() : 0;
  try {
    zone = name ? new Intl.DateTimeFormat('en-GB', { timeZone: name }).resolvedOptions().timeZone : undefined;
  } catch {
    zone = undefined; // one that this browser does not know
  }
  formats.clear();
}

/** Return the robot's time in Unix seconds. */
export const now = () => (Date.now() + ahead) / 1000;

/** Return Unix seconds of an ISO string, or of seconds as they are; NaN: none. */
export const seconds = (moment) => (typeof moment === 'number' ? moment : Date.parse(moment) / 1000);

/** Return Unix seconds as ISO 8601, UTC, to the second. */
export const iso = (t) => new Date(Math.round(t) * 1000).toISOString().replace('.000', '');

/** Return the name of the zone that moments are written in. */
export const zoneName = () => zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;

const formats = new Map();

/** Write a moment by the options of Intl.DateTimeFormat. */
export function written(moment, options) {
  const key = JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...options }));
  const t = seconds(moment);
  return Number.isFinite(t) ? formats.get(key).format(t * 1000) : '';
}

const FULL = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric',
  hour: '2-digit', minute: '2-digit', second: '2-digit' };

/** Return a moment, ISO or Unix seconds, such as 'Mon, 23 Nov 2026, 10:57:12'. */
export const when = (moment) => written(moment, FULL);

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [['year', 31557600], ['month', 2629800], ['day', 86400], ['hour', 3600], ['minute', 60]];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Return how long ago a moment is, such as '5 minutes ago'. */
export function ago(moment) {
  const gone = seconds(moment) - now();
  const [unit, size] = UNITS.find(([, size]) => Math.abs(gone) >= size) ?? ['second', 1];
  return Number.isFinite(gone) ? relative.format(Math.trunc(gone / size), unit) : '';
}

/** Return how long something takes in words, such as '8 months'. */
export function lengthName(s) {
  const [unit, size] = UNITS.find(([, size]) => s >= 2 * size) ?? ['second', 1];
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long',
    maximumFractionDigits: 0 }).format(s / size);
}

const PARTS = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit',
  second: '2-digit', hourCycle: 'h23' };

/** Return how far the zone's clock is ahead of UTC at a time, in seconds. */
export function offset(t) {
  const [d, mo, y, h, mi, s] = written(t, PARTS).match(/\d+/g).map(Number);
  return Math.round(Date.UTC(y, mo - 1, d, h, mi, s) / 1000 - Math.floor(t));
}

/** Return Unix seconds of what the zone's clock shows, as seconds since it showed the beginning of 1970. */
export const fromWall = (wall) => wall - offset(wall - offset(wall));

/** Return when the day of a time began, and when the next one does, in Unix seconds. */
export const midnight = (t) => fromWall(Math.floor((t + offset(t)) / 86_400) * 86_400);
export const nextMidnight = (t) => midnight(midnight(t) + 108_000); // days have 23 to 25 hours

/** Return a time as a datetime-local field wants it, in the zone. */
export const toField = (t) => iso(t + offset(t)).slice(0, 19);

/** Return Unix seconds of what a datetime-local field holds; NaN: nothing. */
export function fromField(value) {
  const wall = Date.parse(`${value}Z`) / 1000;
  return Number.isFinite(wall) ? fromWall(wall) : NaN;
}
