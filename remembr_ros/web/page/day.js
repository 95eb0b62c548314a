// The days that the chosen window of time touches: where robots stood and drove, with what was seen, read and
// done.

import { showMap } from './acts.js';
import { clock, lasted, memoryLink, saidName, start, whereName } from './cards.js';
import { el, icon } from './dom.js';
import { iso, midnight, nextMidnight, seconds, written } from './times.js';

const SEEN = 2; // sentences of a stay or a drive
const READ = 6; // and texts that were read meanwhile
const DEEDS = 6; // that are shown at once
const DATE = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' };

/** Return a stay or a drive as a button, `data-after` and `data-before` tell when. */
function episode({ kind, robot, start: from, end, position, place, travelled, seen, read }, page) {
  const [t0, t1] = [seconds(from), seconds(end)];
  const window = { after: iso(Math.floor(t0)), before: iso(Math.ceil(t1) + 1) };
  const words = kind === 'stay' ? `Stood at ${whereName(position, place)}`
    : `Drove${travelled ? ` ${travelled.toFixed(1)} m` : ''}${place ? ` to ${saidName(place)}` : ''}`;
  const line = (...parts) => el('span', { class: 'card-text', dir: 'auto' }, parts);
  return el('button', { type: 'button', class: 'episode', dataset: window, onclick: () => {
    page.url.set({ ...window, memory: null }, { push: true });
    showMap(page);
  } },
    el('span', { class: 'card-meta' }, icon(kind === 'stay' ? 'place' : 'go'),
      el('strong', { dir: 'auto' }, words),
      el('span', {}, `${clock(from, from)}, ${lasted(t1 - t0)}`),
        page.info.robots.length > 1 ? el('bdi', {}, start(robot, 30)) : null),
    seen.slice(0, SEEN).map((text) => line(start(text))),
    read.length ? line('Read: ', read.slice(0, READ).map((text) => start(text, 40)).join(', ')) : null);
}

/** Return what a robot did meanwhile, each a link to its memory with the time; what is beyond DEEDS is
 * folded. */
function deedsOf({ deeds }, page) {
  const list = (some) => el('ol', { class: 'deeds', 'aria-label': 'Deeds' }, some.map((deed) => el('li', {},
    memoryLink(deed, page, {}, el('time', { datetime: deed.start, class: 'muted' },
      clock(deed.start, deed.start)),
      // its text says so, too
      deed.outcome === 'failed' ? el('span', { class: 'error' }, icon('close')) : null,
      el('span', { dir: 'auto' }, start(deed.text, 200))))));
  const [shown, more] = [deeds.slice(0, DEEDS), deeds.slice(DEEDS)];
  return [shown.length ? list(shown) : null,
    more.length ? el('details', {}, el('summary', { class: 'small' }, `and ${more.length} more`), list(more))
      : null];
}

/** Show the days in `root`. */
export function mountDay(root, page) {
  const { url } = page;
  const said = el('p', { class: 'search-status small muted', role: 'status' });
  const list = el('div', { class: 'days' });
  const places = new Map(); // by the button of a stay or a drive
  let shown = ''; // what is listed
  let open = null; // the button of the chosen window
  root.append(said, list);

  /** Return what to ask for; without a window it is the last day of which anything is remembered. */
  function wanted() {
    const { first, last } = page.info;
    const { before = last, after = url.state().before ? first : last } = url.state();
    if (!after || !before) return { day: '', robot: url.robots() };
    const [begin, end] = [midnight(seconds(after)), nextMidnight(seconds(before) - 1)];
    return { day: `between ${iso(begin)} and ${iso(end)}`, robot: url.robots() };
  }

  function show({ days, whole, why = whole ? '' : 'Only the latest of that time.' }) {
    said.textContent = why;
    places.clear();
    list.replaceChildren(...days.flatMap(({ date, parts }) =>
      [el('h2', {}, written(`${date}T12:00:00Z`, DATE)),
      ...parts.flatMap(({ part, episodes }) => [el('h3', {}, part),
        el('ol', { class: 'cards' }, episodes.map((one) => {
        const button = episode(one, page);
        places.set(button, one);
        return el('li', {}, button, ...deedsOf(one, page));
      }))])]));
  }

  /** Mark what the window is of, in the list and on the map. */
  function mark() {
    const { after, before, memory } = url.state();
    const now = [...places.keys()].find(({ dataset }) => dataset.after === after
      && dataset.before === before);
    if (now === open || memory) return;
    open?.removeAttribute('aria-current');
    now?.setAttribute('aria-current', 'true');
    open = now;
    page.map.mark(places.get(now)?.position ? places.get(now) : null);
  }

  async function look(anew) {
    const query = wanted();
    const what = JSON.stringify(query);
    if (!root.hidden && (anew === true || what !== shown)) {
      shown = what;
      const found = !query.day ? { days: [], why: 'Nothing is remembered yet.' }
        : await page.api.get('/api/day', query).catch((error) => ({ days: [], why: error.message }));
      if (what !== shown) return; // another one is asked for meanwhile
      show(found);
    }
    mark();
  }

  url.onChange(look);
  for (const kind of ['memories', 'back']) page.on(kind, () => look(true));
  look();
}
