// How the parts of the system are, problems first; asked for only while somebody looks.

import { fact, update } from './cards.js';
import { el } from './dom.js';

const LEVELS = { error: 'Error', stale: 'Not heard of', warn: 'Warning', ok: 'OK' }; // worst first
const RIGHTS = { look: 'look', ask: 'look and ask', act: 'look, ask and act' };
const rank = ({ level }) => Object.keys(LEVELS).indexOf(level);

const part = ({ name, level, message, values }) => el('li', { class: 'part', dataset: { level } },
  el('p', { class: 'part-head' }, el('span', { class: 'level small muted' }, LEVELS[level] ?? level),
    el('strong', { dir: 'auto' }, name)),
  el('p', { class: 'part-says', dir: 'auto' }, message),
  el('dl', { class: 'facts' }, Object.entries(values).map(([what, value]) => fact(what, value))));

/** Show the state in `root`. */
export function mountState(root, page) {
  const summary = el('h2', {}, 'State');
  const said = el('p', { role: 'status' });
  const list = el('ul', { class: 'parts', 'aria-label': 'Parts' });
  const about = el('dl', { class: 'facts' });
  root.append(summary, said, list, el('h3', {}, 'About'), about);

  function tellAbout() {
    const { name, memories, planner, embedder, right, version } = page.info;
    const values = { Memory: name, Memories: memories.toLocaleString('en'), Planner: planner || 'none',
      'Search model': embedder || 'not known', 'You may': RIGHTS[right], Version: version };
    update(about, Object.entries(values), JSON.stringify, ([what, value]) => fact(what, value));
  }

  function show({ parts }) {
    const bad = parts.filter(({ level }) => level !== 'ok').length;
    said.textContent = !parts.length ? 'Nothing reports its state here.'
      : bad ? `${bad} of ${parts.length} ${parts.length > 1 ? 'parts need' : 'part needs'} attention.`
        : 'Everything is fine.';
    const sorted = [...parts].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
    update(list, sorted, JSON.stringify, part);
  }

  let shown = false;
  async function look() {
    try {
      show(await page.api.get('/api/state'));
    } catch (error) {
      said.textContent = error.message;
    }
  }
  new IntersectionObserver(([{ isIntersecting }]) => {
    if (isIntersecting && !shown) look();
    shown = isIntersecting;
  }).observe(root);
  tellAbout();
  page.on('memories', tellAbout);
  page.on('state', (data) => shown && (data.parts ? show(data) : look()));
  page.on('back', () => shown && look());
}
