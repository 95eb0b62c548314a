// How the parts of the system are, problems first; asked for only while somebody looks.

import { update } from './cards.js';
import { el } from './dom.js';

const LEVELS = { error: 'Error', stale: 'Not heard of', warn: 'Warning', ok: 'OK' }; // worst first
const RIGHTS = { look: 'look', ask: 'look and ask', act: 'look, ask and act' };
const rank = ({ level }) => Object.keys(LEVELS).indexOf(level);

const pairs = (list, values) => update(list, Object.entries(values), ([name]) => name,
  ([name]) => el('div', {}, el('dt', {}, name), el('dd', { dir: 'auto' })),
  (node, [, value]) => (node.lastElementChild.textContent = String(value)));

function part() {
  return el('li', { class: 'part' },
    el('p', { class: 'part-head' }, el('span', { class: 'level' }), el('strong', { dir: 'auto' })),
    el('p', { class: 'part-says', dir: 'auto' }),
    el('dl', { class: 'facts' }));
}

function tell(node, { name, level, message, values }) {
  const [head, says, facts] = node.children;
  node.dataset.level = level;
  head.firstElementChild.textContent = LEVELS[level] ?? level;
  head.lastElementChild.textContent = name;
  says.textContent = message;
  pairs(facts, values ?? {});
}

/** Show the state in `root`. */
export function mountState(root, page) {
  const summary = el('h2', {}, 'State');
  const said = el('p', { role: 'status' });
  const list = el('ul', { class: 'parts', 'aria-label': 'Parts' });
  const about = el('dl', { class: 'facts' });
  root.append(summary, said, list, el('h3', {}, 'About'), about);

  function tellAbout() {
    const { name, memories, planner, embedder, right, version } = page.info;
    pairs(about, { Memory: name, Memories: memories.toLocaleString('en'), Planner: planner || 'none',
      'Search model': embedder || 'not known', 'You may': RIGHTS[right], Version: version });
  }

  function show({ parts }) {
    const bad = parts.filter(({ level }) => level !== 'ok').length;
    said.textContent = !parts.length ? 'Nothing reports its state here.'
      : bad ? `${bad} of ${parts.length} ${parts.length > 1 ? 'parts need' : 'part needs'} attention.` : 'Everything is fine.';
    const sorted = [...parts].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
    update(list, sorted, ({ name }) => name, part, tell);
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
