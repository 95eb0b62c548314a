// Search as one types: the same as `remembr recall`, with chips for what narrows it.

import { showMap } from './acts.js';
import { isWeak, placeName, saidName, showCards, sourceName, start, update, windowName } from './cards.js';
import { button, delayed, el, icon } from './dom.js';
import { grouped, ordered } from './order.js';

const TYPING_MS = 150; // [ms] a pause in typing after which the search is made
const AGAIN_MS = 2_000; // [ms] between tries while the model that makes vectors is still loading
const STEP = 25; // cards at first, and more at a time
const MOST = 100; // memories that are looked at, some of them alike
const NOTHING = { q: null, after: null, before: null, near: null, radius: null, place: null, robot: null,
  camera: null, source: null };

/** Return what narrows the search: [{keys to take away, icon, words, what is left of a key}]. */
function filters({ q, after, before, place, camera, source }, near, robots) {
  return [
    { keys: ['after', 'before'], icon: 'clock', words: windowName({ after, before }) },
    { keys: ['near', 'radius'], icon: 'place', words: near
      ? `${!q ? 'seen at' : near.radius ? `within ${near.radius.toFixed(1)} m of`
        : 'near'} ${placeName([near.x, near.y])}` : '' },
    { keys: ['place'], icon: 'map', words: place && `in ${saidName(place)}` },
    ...robots.map((name) => ({ keys: ['robot'], icon: 'robot', words: name,
      left: { robot: robots.filter((other) => other !== name).join('\n') } })),
    { keys: ['camera'], icon: 'camera', words: camera },
    { keys: ['source'], icon: 'source', words: source && sourceName(source) },
  ].filter(({ words }) => words);
}

/** Let a person search in `root`. */
export function mountSearch(root, page) {
  const { url } = page;
  let limit = STEP;
  let running = null; // what ends the search whose answer is awaited
  const typing = delayed();
  const again = delayed(); // a search that failed
  let missed = false; // something was stored meanwhile
  let stale = true; // what is shown is not what the address asks for
  let asked = ''; // what the search that is shown, or under way, is for

  const input = el('input', {
    type: 'search', name: 'q', id: 'search-text', autocomplete: 'off', enterkeyhint: 'search',
      maxlength: 1000,
    placeholder: 'Search what was seen', 'aria-label': 'Search what was seen',
      'aria-controls': 'search-results',
    dir: 'auto', value: url.state().q ?? '', oninput: () => typing(typed, TYPING_MS),
  });
  const form = el('form', { class: 'search-form', role: 'search', onsubmit: (event) => {
    event.preventDefault();
    const before = url.state();
    typed();
    if (url.state() === before) search();
  } }, icon('search'), input);
  const chips = el('ul', { class: 'chips', 'aria-label': 'Filters' });
  const time = button('clock', 'Time', () => {
    showMap(page);
    /** @type {HTMLElement} */ (document.querySelector('#timeline input'))?.focus();
  }, { class: 'chip' });
  const place = el('button', { type: 'button', class: 'chip', onclick: pick }, icon('place'), 'Place');
  const choices = [choice('robot', 'Robot'), choice('camera', 'Camera'),
    choice('source', 'Source', sourceName)];
  const order = el('select', { class: 'chip', 'aria-label': 'Order',
    onchange: () => url.set({ order: order.value }, { push: true }) },
    el('option', { value: '' }), el('option', { value: 'newest' }, 'Newest first'));
  const status = el('p', { class: 'search-status small muted', role: 'status' });
  const remedy = el('button', { type: 'button', hidden: true });
  const list = el('ol', { class: 'cards', id: 'search-results', 'aria-label': 'Results' });
  const more = el('button', { type: 'button', class: 'more', hidden: true, onclick: () => {
    limit += STEP;
    search();
  } }, 'Show more');
  root.append(form, el('div', { class: 'filters' }, chips, time, place, choices.map(({ select }) => select),
    order),
    status, remedy, list, more);

  const without = ['Search without filters', () => {
    input.value = '';
    url.set(NOTHING, { push: true });
    input.focus();
  }];

  function typed() {
    typing(null);
    url.set({ q: input.value.trim() });
  }

  function choice(key, label, named = (value) => value) {
    const chosen = () => url.state()[key]?.split('\n') ?? [];
    const select = el('select', { class: 'chip', 'aria-label': label, onchange: () => {
      url.set({ [key]: [...chosen(), select.value].join('\n') }, { push: true });
      /** @type {HTMLElement} */ (chips.lastElementChild?.firstElementChild)?.focus();
    } });
    const refresh = () => {
      const values = page.info[`${key}s`].filter(Boolean);
      const option = (value) => el('option', { value }, value ? start(named(value), 40) : label);
      const left = values.filter((value) => !chosen().includes(value));
      update(select, ['', ...left], (value) => value, option);
      select.value = '';
      // robots: any of several
      select.hidden = values.length < 2 || !left.length || (key !== 'robot' && chosen().length > 0);
    };
    return { select, refresh };
  }

  async function pick() {
    const { x, y, radius } = (await page.map.pickPlace()) ?? {};
    if (radius) url.set({ near: `${x.toFixed(2)},${y.toFixed(2)}`, radius: Number(radius.toPrecision(2)) },
      { push: true });
  }

  const narrowing = () => filters(url.state(), url.place(), url.robots());

  function showFilters() {
    update(chips, narrowing(), ({ keys, words, left }) => `${keys} ${words} ${left?.robot}`,
      ({ keys, icon: drawing, words, left }) => el('li', {},
      el('button', { type: 'button', class: 'chip on', 'aria-label': `Remove filter: ${words}`,
        onclick: () => {
        url.set({ ...Object.fromEntries(keys.map((key) => [key, null])), ...left }, { push: true });
        (chips.querySelector('button') ?? input).focus();
      } }, icon(drawing), el('bdi', {}, words), icon('close'))));
    time.hidden = Boolean(url.state().after || url.state().before);
    place.hidden = Boolean(url.state().near);
    for (const { refresh } of choices) refresh();
    order.hidden = !url.state().q && !url.state().near;
    order.options[0].textContent = url.state().q ? 'Best first' : 'Nearest first';
    order.value = url.state().order === 'newest' ? 'newest' : '';
  }

  /** Return what the address asks for, as /api/recall names it; without a text or a place, of the part of
   * the map in view. */
  function wanted() {
    const { q, near, radius, place: name } = url.state();
    const part = near || name ? { map: page.map.mapId(), seen: q || !near ? null : 1 } : q ? {}
      : page.map.inView();
    return { text: q, position: near, radius, place: name, ...part, ...url.scope(), limit: MOST + 1 };
  }

  const inWords = () => JSON.stringify([wanted(), url.state().order]);

  async function search(live = false) {
    missed = live === true && running !== null;
    if (missed) return; // on a slow memory a person would never see what was found
    running?.abort();
    again(null);
    stale = !root.checkVisibility();
    running = stale ? null : new AbortController();
    if (stale) return;
    const mine = running;
    const query = wanted();
    asked = inWords();
    list.setAttribute('aria-busy', 'true');
    try {
      const found = await page.api.get('/api/recall', query, { signal: mine.signal });
      show(found.memories, query, live === true);
    } catch (error) {
      if (!mine.signal.aborted) fail(error);
    } finally {
      if (running === mine) {
        running = null;
        list.removeAttribute('aria-busy');
        if (missed) search(true);
      }
    }
  }

  function show(found, query, still) {
    const { text, position: near, place: name, box } = query;
    const newest = order.value === 'newest' || !(text || near);
    const groups = grouped(ordered(found.slice(0, MOST), newest));
    const shown = groups.slice(0, limit);
    const hits = shown.flat();
    more.hidden = shown.length === groups.length;
    const full = !more.hidden || found.length > MOST;
    const by = newest ? 'Newest first' : text ? 'Best match first' : 'Nearest first';
    const filtered = text || narrowing().length;
    say(hits.length ? `${by}${box ? ' in this part of the map' : ''}, ${hits.length}`
      + (full ? ' shown' : hits.length === 1 ? ' memory' : ' memories')
      + (full && more.hidden ? '. Narrow the search to see others.' : '')
      : box ? 'Nothing in this part of the map.' : filtered ? 'Nothing matches.'
        : 'Nothing is remembered yet. What the robot sees appears here.',
    hits.length ? [] : box ? ['Show everything', page.map.fit] : filtered ? without : []);
    showCards(list, shown.map(([first, ...alike]) => ({ ...first, alike })), page);
    const sure = hits.filter(({ sureness }) => sureness === 'surely');
    const lit = sure.length ? sure : filtered ? hits.filter((hit) => !isWeak(hit)) : [];
    // else list and map would follow one another
    page.map.light(lit, { still: still || !(text || near || name) });
  }

  function fail(error) {
    say(error.status === 503 ? `${error.message} Trying again…` : error.message,
      error.status === 400 ? without : ['Try again', search]);
    if (error.status === 503) again(search, AGAIN_MS);
  }

  /**
   * Say what came of the search.
   * @param {string} words
   * @param {any[]} remedy its label, and what it does; empty: there is none
   */
  function say(words, [label, run] = []) {
    if (status.textContent !== words) status.textContent = words;
    remedy.hidden = !label;
    remedy.textContent = label ?? '';
    remedy.onclick = run ?? null;
  }

  url.onChange((now, _, popped) => {
    if (popped || document.activeElement !== input) input.value = now.q ?? '';
    showFilters();
    const changed = inWords() !== asked;
    if (changed) limit = STEP;
    if (changed || stale) search();
  });
  page.on('memories', () => {
    showFilters(); // there may be another robot
    search(true);
  });
  page.on('back', search);
  page.on('shown', () => stale && search());
  showFilters();
  search();
}
