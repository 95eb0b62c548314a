// Memories in lists: a picture, what was seen, when and where. Lists are updated, never rebuilt.

import { button, el, icon } from './dom.js';
import { ago, written } from './times.js';

const EXCERPT = 240; // [characters] of a caption in a list; a hostile one has 60,000 without a space
// [ms] after which a picture that could not be had is asked for again, then ever later
const AGAIN_MS = 3_000;
const TIMES = 4;
const LEAD = 40; // [characters] before what matched, where the excerpt begins in the middle
const DAY = { day: 'numeric', month: 'short', year: 'numeric' };
const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit' };
const SOURCES = { captioner: 'Seen by the robot', person: 'Note of a person', object: 'Object',
  agent: "Robot's own deed", place: 'Name of a place' };
const PICTURELESS = { person: ['Note', 'note'], agent: ['Deed', 'robot'], place: ['Place', 'place'] };

/** Return who a source is, for a person. */
export const sourceName = (source) => SOURCES[source] ?? source;

/** Return a place in words: metres in the map frame. */
export const placeName = (position) => (position ? `(${position[0].toFixed(1)}, ${position[1].toFixed(1)})`
  : 'unplaced');

/** Return the name of a place in a sentence: 'the kitchen', 'room 315'. */
export const saidName = (name) => (/^\p{Lu}|\d/u.test(name) ? name : `the ${name}`);

/** Return where something is in words: metres, and the name of the place, if it has one. */
export const whereName = (position, place) => placeName(position) + (place ? ` in ${saidName(place)}` : '');

/** Return a moment in words; where it is on the day of `since`, its time alone. */
export const clock = (time, since) =>
  written(time, written(time, DAY) === written(since, DAY) ? CLOCK : { ...DAY, ...CLOCK });

/** Return a window of time in words; empty: it is all of time. */
export const windowName = ({ after, before }) =>
  (after && before ? `${clock(after)} – ${clock(before, after)}`
  : after ? `from ${clock(after)}` : before ? `until ${clock(before)}` : '');

/** Return a moment as an element: the robot's time, UTC on hover. */
export const moment = (time, since) => el('time', { datetime: time, title: `${time} (UTC)` },
  clock(time, since));

/** Return how long ago a moment is as an element, which the page keeps true. */
export const since = (time) => el('span', { class: 'ago muted', dataset: { of: time } }, ago(time));

/** Return the address of a keyframe; `width` 256 or 1024 for a thumbnail. */
export const pictureAddress = (name, width) =>
  `/api/pictures/${encodeURIComponent(name)}${width ? `?width=${width}` : ''}`;

/** Return text[from:to] without halves of characters at its ends. */
const cut = (text, from, to) =>
  text.slice(Math.max(from, 0), to).replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');

/** Return the start of a text, on one line. */
export function start(text, most = 100) {
  const line = cut(text, 0, 4 * most).replace(/\s+/g, ' ').trim();
  return line.length > most || text.length > 4 * most ? `${cut(line, 0, most)}…` : line;
}

/** Tell whether a memory is less than likely what was asked by text: it is listed, and nothing marks it as
 * found. */
export const isWeak = ({ sureness }) => sureness === 'perhaps' || sureness === 'hardly';

/** Return the part of a caption around the sentence that matched, in an element `tag`: children for an
 * element. */
export function excerpt(text, sentence, tag = 'mark', most = EXCERPT) {
  const at = sentence ? text.indexOf(sentence) : -1;
  const from = at > 0 && at + sentence.length > most ? at - LEAD : 0;
  const to = from + most;
  const ends = [from > 0 ? '… ' : '', to < text.length ? ' …' : ''];
  if (at < 0) return [ends[0], cut(text, from, to), ends[1]];
  const after = Math.min(at + sentence.length, to);
  const marked = el(tag, {}, cut(text, at, after));
  return [ends[0], cut(text, from, at), marked, cut(text, after, to), ends[1]];
}

/** Return a picture of a memory in a frame of fixed shape; words where there is none or it is damaged. */
export function picture(memory, { name = memory.keyframes?.[0], width = 256, lazy = true } = {}) {
  const frame = el('span', { class: 'picture' });
  const say = (words, drawing) => frame.replaceChildren(icon(drawing), el('span', {}, words));
  const load = (times, loading) => {
    const image = el('img', {
      src: pictureAddress(name, width), width, height: (width * 3) / 4, loading, decoding: 'async',
        alt: start(memory.caption),
      onload: () => image.isConnected || frame.replaceChildren(image),
      onerror: () => {
        say('Picture missing', 'camera');
        if (times < TIMES) setTimeout(() => frame.isConnected && load(times + 1), AGAIN_MS * 3 ** times);
      },
    });
    return image;
  };
  if (!name) say(...(PICTURELESS[memory.source] ?? ['No picture', 'camera']));
  else frame.append(load(0, lazy ? 'lazy' : null));
  return frame;
}

/** Return how well a memory fits what was asked, in words; null where nothing was asked by text. */
export const sureness = (hit) => (hit.sureness
  ? el('span', { class: `sureness ${hit.sureness}`,
    title: hit.score ? `score ${hit.score.toFixed(2)}` : null },
    `${hit.sureness[0].toUpperCase()}${hit.sureness.slice(1)} a match`) : null);

/** Return a link that opens a memory in the page, or elsewhere if the browser is asked for that. */
export const memoryLink = ({ id }, page, props, ...children) =>
  el('a', { href: page.url.address({ memory: id }), ...props,
  onclick: (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    page.openMemory(id);
  } }, ...children);

/** Return a memory as a link that opens it. */
export function card(hit, page) {
  // a text in the scene matched, not the caption
  const apart = hit.sentence && !hit.caption.includes(hit.sentence);
  const tag = isWeak(hit) ? 'span' : 'mark';
  const mark = () => page.url.state().memory || page.map.mark(hit, { still: true });
  const unmark = () => page.url.state().memory || page.map.mark(null);
  return memoryLink(hit, page, { class: 'card', dataset: { id: hit.id },
    onpointerenter: mark, onpointerleave: unmark, onfocus: mark, onblur: unmark },
    picture(hit),
    el('span', { class: 'card-body' },
      el('span', { class: 'card-text', dir: 'auto' }, excerpt(hit.caption, hit.sentence, tag)),
      apart ? el('span', { class: 'card-text', dir: 'auto' }, 'Read: ', el(tag, {}, start(hit.sentence)))
        : null,
      el('span', { class: 'card-meta' },
        sureness(hit),
        el('span', {}, hit.source === 'object' ? ['seen ', since(hit.end)] : moment(hit.start)),
        el('span', { dir: 'auto' }, whereName(hit.position, hit.place)),
        Number.isFinite(hit.distance) ? el('span', {},
          `${hit.source === 'captioner' ? 'seen from ' : ''}${hit.distance.toFixed(1)} m away`) : null,
        page.info.robots.length > 1 && hit.robot ? el('bdi', { class: 'name' }, start(hit.robot, 30)) : null,
        hit.source && hit.source !== 'captioner' ? el('span', {}, sourceName(hit.source)) : null)));
}

/** Return one line of a list of facts. */
export const fact = (name, ...value) => el('div', {}, el('dt', {}, name), el('dd', { dir: 'auto' }, value));

/** Return a text that may be long: its start, and the rest on request. */
export function clamped(text, most) {
  const said = el('p', { class: 'caption', dir: 'auto' },
    text.length > most ? `${cut(text, 0, most)}…` : text);
  if (text.length <= most) return said;
  const more = button(null, `Show all ${text.length.toLocaleString('en')} characters`, () => {
    said.textContent = text;
    more.remove();
  }, { class: 'quiet more' });
  return el('div', {}, said, more);
}

/** Return how long something took, in words. */
export function lasted(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * Make the children of a list those of `items`: kept by `key`, else made, each then changed; moved only if
 * need be.
 * @template T
 * @param {HTMLElement} list
 * @param {T[]} items
 * @param {(item: T) => string} key
 * @param {(item: T) => HTMLElement} make
 * @param {(node: any, item: T) => void} change
 */
export function update(list, items, key, make, change = () => {}) {
  const children = /** @type {HTMLElement[]} */ ([...list.children]);
  const old = new Map(children.map((node) => [node.dataset.key, node]));
  items.forEach((item, i) => {
    const id = key(item);
    const node = old.get(id) ?? make(item);
    old.delete(id);
    node.dataset.key = id;
    change(node, item);
    if (list.children[i] !== node) list.insertBefore(node, list.children[i] ?? null);
  });
  for (const node of old.values()) node.remove();
}

// Of a hit, on its card.
const SHOWN = ['id', 'end', 'caption', 'sureness', 'sentence', 'distance', 'merged', 'place'];

/** Show memories as cards in a list, those with `alike` above these others, folded. */
export const showCards = (list, hits, page) => update(list, hits,
  (hit) => SHOWN.map((name) => hit[name]).join(' '),
  (hit) => el('li', {}, card(hit, page), el('details', {}, el('summary', { class: 'small' }),
    el('ol', { class: 'cards' }))),
  ({ children: [link, more] }, { id, alike = [] }) => {
    link.href = page.url.address({ memory: id });
    more.hidden = !alike.length;
    more.firstElementChild.textContent = `and ${alike.length} more like this`;
    showCards(more.lastElementChild, alike, page);
  });
