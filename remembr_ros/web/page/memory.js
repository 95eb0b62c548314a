// One memory: its pictures, what was seen, where and when, what came before and after it.

import { copyLink, forget, goButton, showOnMap, writeNote } from './acts.js';
import { clamped, fact, lasted, memoryLink, moment, picture, pictureAddress, since, sourceName, start,
  whereName } from './cards.js';
import { button, el, icon } from './dom.js';
import { aboutObject } from './objects.js';
import { when } from './times.js';

const CAPTION = 600; // [characters] shown before 'more'
const TEXTS = 60; // texts read in the scene that are shown
const DEED = { kind: 'Kind', object: 'Object', receptacle: 'From, on, in', place: 'Place',
  outcome: 'Outcome', reason: 'Reason' };
const AROUND_M = 3; // [m] what else was seen here
// keys mean others there
const ELSEWHERE = 'input, textarea, select, dialog, [role=tablist], [role=menu], #map, #timeline';

/** Show the memory of the address in `root`. */
export function mountMemory(root, page) {
  const { url, api } = page;
  let running = new AbortController();
  let shown = null; // the answer that is shown
  let forgetting = false; // the news of that may come before its answer
  let closed = false; // whether none was, so that opening one moves the focus to it

  const open = (id) => id && page.openMemory(id);

  function pictures(memory) {
    const names = memory.keyframes;
    const large = el('a', { class: 'large', target: '_blank', rel: 'noopener', title: 'Open in full' });
    large.addEventListener('error', () => large.removeAttribute('href'), true); // there is nothing to open
    const choose = (name) => {
      large.replaceChildren(picture(memory, { name, width: 1024, lazy: false }));
      if (name) large.href = pictureAddress(name);
      for (const each of others.children) each.setAttribute('aria-pressed', each.dataset.name === name);
    };
    const others = el('div', { class: 'others', role: 'group', 'aria-label': 'Pictures' },
      names.length < 2 ? null : names.map((name, i) => el('button', {
        type: 'button', dataset: { name }, 'aria-label': `Picture ${i + 1} of ${names.length}`,
          onclick: () => choose(name),
      }, picture(memory, { name }))));
    choose(names[0]);
    return [large, others];
  }

  function where({ memory, place }) {
    if (!memory.position) return fact('Where', 'not known');
    const [x, y] = memory.position;
    return fact('Where', whereName(memory.position, place),
      memory.map ? ` on ${start(memory.map)} ` : ' ',
      el('span', { class: 'row' },
        button('place', 'Show on map', () => showOnMap(page, [memory]), { class: 'chip' }),
        button('search', 'What else was seen here', () => url.set(
          { view: 'search', memory: null, q: null, near: `${x.toFixed(2)},${y.toFixed(2)}`, radius: AROUND_M,
            place: null },
          { push: true }), { class: 'chip' })));
  }

  /** Return what is known of a deed; the objects that it was done to lead to theirs. */
  const deed = ({ facts: told }) => Object.entries(DEED).map(([key, name]) => told[key] && fact(name,
    told[`${key}_id`] ? memoryLink({ id: told[`${key}_id`] }, page, {}, start(told[key]))
      : start(told[key], 500)));

  function facts({ memory, place }) {
    const times = memory.facts.times?.length;
    const long = (Date.parse(memory.end) - Date.parse(memory.start)) / 1000;
    return el('dl', { class: 'facts' },
      memory.source === 'agent' ? deed(memory) : null,
      where({ memory, place }),
      fact('When', moment(memory.start), ...(long ? [' – ', moment(memory.end, memory.start),
        `, ${lasted(long)}`] : []), ', ',
        since(memory.end)),
      memory.robot ? fact('Robot', start(memory.robot)) : null,
      memory.camera ? fact('Camera', start(memory.camera)) : null,
      fact('Source', sourceName(memory.source), memory.captioner
        ? `, captioned by ${start(memory.captioner)}` : ''),
      times > 1 ? fact('Stands for', `${times} times that it did this`)
        : memory.merged > 1 ? fact('Stands for', `${memory.merged} segments of one stay`) : null,
      memory.travelled >= 0.1 ? fact('Driven', `${memory.travelled.toFixed(1)} m meanwhile`) : null);
  }

  function actions(memory) {
    const [x, y] = memory.position ?? [];
    return el('div', { class: 'row' },
      memory.position && goButton(page, { memory_id: memory.id }),
      button('link', 'Copy link', () => copyLink(location.href)),
      memory.position && page.may('note')
        ? button('note', 'Add a note here', () => writeNote(page, { x, y, map: memory.map })) : null,
      page.may('forget') ? button('trash', 'Forget', async () => {
        forgetting = true;
        const done = await forget(page, memory);
        forgetting = false;
        if (!done) return load(); // what came meanwhile was passed over
        url.set({ memory: null }, { push: true });
        for (const each of document.querySelectorAll(
          `.card[data-id="${CSS.escape(memory.id)}"]`)) each.parentElement.remove();
      }, { class: 'forget' }) : null);
  }

  function strip({ memory, neighbours }) {
    const all = [...neighbours.filter(({ id }) => id !== memory.id),
      memory].sort((a, b) => (a.start < b.start ? -1 : 1));
    return el('ol', { class: 'strip', 'aria-label': 'Before and after' },
      all.map((each) => el('li', {}, memoryLink(each, page,
      { 'aria-current': each.id === memory.id ? 'true' : null, title: when(each.start) }, picture(each)))));
  }

  function show(found) {
    const held = root.contains(document.activeElement);
    const another = shown?.memory.id !== found.memory.id;
    const opened = shown ? another : closed;
    shown = found;
    const { memory, before, after } = found;
    const turn = (id, drawing, words) => el('button',
      { type: 'button', class: 'quiet', disabled: !id, onclick: () => open(id),
        'aria-keyshortcuts': drawing === 'prev' ? 'k' : 'j',
        title: drawing === 'prev' ? 'k or ←' : 'j or →' },
      drawing === 'prev' ? [icon(drawing), words] : [words, icon(drawing)]);
    root.replaceChildren(
      el('div', { class: 'turn' },
        turn(before, 'prev', 'Earlier'), el('h2', { tabindex: '-1', dir: 'auto' },
          found.object?.name ?? moment(memory.start)), turn(after, 'next', 'Later')),
      ...pictures(memory),
      ...(found.object ? aboutObject(page, found, where(found), actions(memory))
        : [clamped(memory.caption, CAPTION),
      memory.scene_text.length ? el('ul', { class: 'texts', 'aria-label': 'Texts that were read' },
        memory.scene_text.slice(0, TEXTS).map((text) => el('li', { dir: 'auto' }, start(text)))) : '',
      actions(memory), strip(found), facts(found)]));
    page.map.mark(memory, { still: !another });
    if (opened || held) root.querySelector('h2').focus({ preventScroll: true });
  }

  function gone(error) {
    shown = null;
    page.map.mark(null);
    root.replaceChildren(el('div', { class: 'nothing', role: 'alert' },
      el('h2', {}, error.status === 404 ? 'This memory is not there any more'
        : 'This memory cannot be shown'),
      el('p', { dir: 'auto' }, error.message),
      error.status === 404 ? '' : button(null, 'Try again', load)));
  }

  async function load() {
    const { memory: id } = url.state();
    running.abort();
    running = new AbortController();
    const { signal } = running;
    if (shown && shown.memory.id !== id) page.map.mark(null);
    if (!id) {
      const opener = `.card[data-id="${CSS.escape(shown?.memory.id ?? '')}"]`;
      /** @type {HTMLElement} */
      const from = document.querySelector(`#panel section:not([hidden]) ${opener}`);
      shown = null;
      closed = true;
      root.replaceChildren();
      return from?.focus();
    }
    if (shown?.memory.id !== id) root.scrollIntoView({ block: 'nearest' });
    try {
      const found = await api.get(`/api/memories/${encodeURIComponent(id)}`, {}, { signal });
      if (found.memory.source === 'object') Object.assign(found,
        await api.get(`/api/objects/${encodeURIComponent(id)}`, {}, { signal }));
      const same = shown && JSON.stringify(shown) === JSON.stringify(found);
      if (!signal.aborted && !same) show(found);
    } catch (error) {
      if (!signal.aborted && error.name !== 'AbortError') gone(error);
    }
  }

  document.addEventListener('keydown', (event) => {
    const target = /** @type {Element} */ (event.target);
    const step = { j: 'after', ArrowRight: 'after', k: 'before', ArrowLeft: 'before' }[event.key];
    if (!url.state().memory || event.ctrlKey || event.metaKey || event.altKey
      || target.closest(ELSEWHERE)) return;
    if (event.key === 'Escape') url.set({ memory: null }, { push: true });
    else if (step && shown) open(shown[step]);
    else return;
    event.preventDefault();
  });
  url.onChange((now, before) => now.memory !== before.memory && load());
  page.on('memories', ({ anew }) => shown && !forgetting && (anew || !shown.after) && load());
  page.on('back', load);
  load();
}
