// The page: what stands where, which view is open, and what happens meanwhile.

import { attempt } from './acts.js';
import * as api from './api.js';
import { mountAsk } from './ask.js';
import { mountDay } from './day.js';
import { el, icon, toast } from './dom.js';
import { mountDrive } from './drive.js';
import { mountMap } from './map.js';
import { mountMemory } from './memory.js';
import { mountSearch } from './search.js';
import { mountState } from './state.js';
import { mountTimeline } from './timeline.js';
import { ago, setClock } from './times.js';
import * as url from './url.js';

const AGO_MS = 30_000; // [ms] between two looks at the clock
const PAUSE_MS = 2_000; // [ms] between two reactions to new memories
const VIEWS = { map: ['map', 'Map'], search: ['search', 'Search'], day: ['clock', 'Day'],
  ask: ['ask', 'Ask'], state: ['state', 'State'] };
const wide = matchMedia('(min-width: 900px)');
const $ = (id) => document.getElementById(id);
const tabs = () => /** @type {HTMLElement[]} */ ([...$('tabs').children]);

const listeners = new Map();
const emit = (kind, data) => listeners.get(kind)?.forEach((fn) => fn(data));

const page = {
  api,
  url,
  info: null,
  map: null,
  timeline: null,
  /** Call fn(data) on 'memories' (at most every 2 s), 'situation', 'exchange', 'map', 'state', 'back',
   * 'theme' and 'shown'. */
  on(kind, fn) {
    if (!listeners.has(kind)) listeners.set(kind, new Set());
    listeners.get(kind).add(fn);
  },
  openMemory: (id) => url.set({ memory: id }, { push: true }),
  may: (ability) => page.info.abilities.includes(ability)
    && RIGHTS.indexOf(page.info.right) >= NEEDED[ability],
};
const RIGHTS = ['look', 'ask', 'act'];
const NEEDED = { ask: 1, listen: 1, correct: 2, drive: 2, forget: 2, note: 2 };

function showView() {
  const { view = 'map', memory } = url.state();
  const shown = wide.matches && view === 'map' ? 'search' : view in VIEWS ? view : 'map';
  document.body.dataset.shown = memory ? 'memory' : shown;
  for (const tab of tabs()) {
    const selected = tab.dataset.view === shown;
    tab.setAttribute('aria-selected', String(selected));
    tab.tabIndex = selected ? 0 : -1;
  }
  for (const each of ['search', 'day', 'ask', 'state']) $(each).hidden = Boolean(memory) || shown !== each;
  $('opened').hidden = !memory;
}

function mountShell() {
  for (const tab of tabs()) {
    const [name, label] = VIEWS[tab.dataset.view];
    tab.append(icon(name), el('span', {}, label));
    tab.addEventListener('click', () => url.set({ view: tab.dataset.view, memory: null }, { push: true }));
  }
  $('tabs').addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const seen = tabs().filter((tab) => tab.offsetParent);
    const at = seen.findIndex((tab) => tab === document.activeElement);
    const next = seen[(at + step + seen.length) % seen.length];
    next.focus();
    next.click();
  });
  $('close-memory').append(icon('back'), 'Back to the list');
  $('close-memory').addEventListener('click', () => {
    url.set({ memory: null }, { push: true });
    // no card was left
    if (document.activeElement === document.body) $(`tab-${document.body.dataset.shown}`).focus();
  });
  $('logout').addEventListener('click', () => attempt(() =>
    api.post('/api/logout').then(() => location.reload())));
  $('stop').append(icon('stop'), el('span', {}, 'Stop'));
  $('stop').addEventListener('click', () => attempt(() =>
    api.post('/api/stop').then(({ detail }) => toast(detail))));
  $('theme').addEventListener('click', () => {
    const theme = isDark() ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    localStorage.setItem('theme', theme);
    showTheme();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showTheme);
  wide.addEventListener('change', () => {
    showView();
    emit('shown');
  });
  url.onChange(showView);
  showTheme();
  showView();
}

const isDark = () => (document.documentElement.dataset.theme
  ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';

function showTheme() {
  $('theme').replaceChildren(icon(isDark() ? 'light' : 'dark'));
  $('theme').setAttribute('aria-label', isDark() ? 'Light colours' : 'Dark colours');
  emit('theme', isDark());
}

let asked = 0;
let answered = 0;

async function renew() {
  const mine = ++asked;
  const info = await api.get('/api/info');
  if (mine < answered) return; // a later one is there
  answered = mine;
  page.info = info;
  setClock(page.info.now, page.info.zone);
  const { name, memories, maps, reading, problem } = page.info;
  document.title = `${name} – what the robot remembers`;
  $('name').textContent = name;
  $('count').textContent = problem || (reading ? 'reading …'
    : `${memories.toLocaleString('en')} ${memories === 1 ? 'memory' : 'memories'}`);
  $('maps').hidden = maps.length < 2;
  $('logout').hidden = !page.info.tokens;
  $('stop').hidden = !page.may('drive');
}

/** Pass memories on at most every PAUSE_MS, what came between in one. */
function throttled(fn) {
  let waiting = null;
  let last = 0;
  const pass = () => {
    last = performance.now();
    fn(waiting);
    waiting = null;
  };
  return (data) => {
    if (!waiting) setTimeout(pass, Math.max(0, last + PAUSE_MS - performance.now()));
    waiting = { ...data, anew: Boolean(data.anew || waiting?.anew),
      new: [...(waiting?.new ?? []), ...data.new].slice(-50) };
  };
}

async function start() {
  mountShell();
  for (let wait = 1_000; !page.info; wait = Math.min(2 * wait, 30_000)) {
    try {
      await renew();
      lost(false);
    } catch (error) {
      lost(true, error.message);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
  page.map = mountMap($('map'), page);
  page.timeline = mountTimeline($('timeline'), page);
  mountSearch($('search'), page);
  mountMemory($('memory'), page);
  mountDay($('day'), page);
  mountAsk($('ask'), page);
  mountDrive($('drive'), page);
  mountState($('state'), page);
  showTheme();
  const memories = throttled(async (data) => {
    await renew().catch(() => {});
    emit('memories', data);
  });
  api.follow(page.info.memories_version, (kind, data) => {
    if (kind === 'memories') return memories(data);
    if (kind === 'back' || kind === 'state') renew().catch(() => {}); // whether the memory can be read
    emit(kind, data);
  }, lost);
  setInterval(() => {
    /** @type {NodeListOf<HTMLElement>} */
    const moments = document.querySelectorAll('.ago');
    for (const moment of moments) moment.textContent = ago(moment.dataset.of);
  }, AGO_MS);
}

function lost(is, why = '') {
  $('banner').hidden = !is;
  $('banner').textContent = is ? `${why} Connection lost, trying again …`.trim() : '';
}

start().catch((error) => toast(`The page did not start: ${error.message}`));
