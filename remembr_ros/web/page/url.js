// The address holds all that one looks at, so that it can be shared, and back and forward work.

const KEYS = ['view', 'map', 'x', 'y', 'zoom', 'after', 'before', 'q', 'order', 'robot', 'camera', 'source',
  'near', 'radius', 'place', 'changed', 'memory'];
const listeners = [];
let current = read();

function read() {
  const params = new URLSearchParams(location.search);
  return Object.freeze(Object.fromEntries(KEYS.filter((key) => params.has(key)).map((key) =>
    [key, params.getAll(key).join('\n')])));
}

/** Return what is looked at: strings by the keys above, only those that are set, a line each where there
 * are several; the same object until it changes. */
export const state = () => current;

/** Return the address of what is looked at, changed by a patch. */
export function address(patch = {}) {
  const params = new URLSearchParams();
  for (const key of KEYS) {
    const value = key in patch ? patch[key] : current[key];
    if (value !== undefined && value !== null && value !== '') String(value).split('\n').forEach((each) =>
      params.append(key, each));
  }
  const query = params.toString();
  return location.pathname + (query ? `?${query.replaceAll('%2C', ',').replaceAll('%3A', ':')}` : '');
}

/** Change what is looked at; null or '' takes a key away; `push`: back comes back here. */
export function set(patch, { push = false } = {}) {
  const to = address(patch);
  if (to === address()) return;
  history[push ? 'pushState' : 'replaceState'](null, '', to);
  changed(false);
}

/** Call fn(state, before, popped) when it changed. */
export const onChange = (fn) => listeners.push(fn);

function changed(popped) {
  const before = current;
  current = read();
  for (const fn of listeners) fn(current, before, popped);
}

addEventListener('popstate', () => changed(true));

const SCOPE = ['after', 'before', 'robot', 'camera', 'source'];

/** Return what narrows a request (after, before, robot, camera, source), as the API names it. */
export const scope = () => Object.fromEntries(
  SCOPE.map((key) => [key, key === 'robot' ? robots() : current[key]]));

/** Return the names of the robots that are chosen; [] for all. */
export const robots = () => current.robot?.split('\n') ?? [];

/** Return the place that is looked at as {x, y, radius}, or null. */
export function place() {
  const [x, y] = (current.near ?? '').split(',').map(Number.parseFloat);
  const radius = Number.parseFloat(current.radius);
  return Number.isFinite(x) && Number.isFinite(y) ? { x, y, radius: Number.isFinite(radius) ? radius : null }
    : null;
}
