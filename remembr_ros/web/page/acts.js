// What a person has the memory and the robot do: drive there, note, forget. Each is asked for before it is
// done.

import { clock, placeName } from './cards.js';
import { button, dialog, el, toast } from './dom.js';

const NOTE = 2_000; // [characters] of a note
const KINDS = ['go', 'pick', 'place', 'open', 'close', 'ask', 'answer', 'dock', 'charge', 'fail'];
const OUTCOMES = ['unknown', 'succeeded', 'failed', 'cancelled'];
const counted = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/** Do something and say what went wrong; return what came of it, null where it failed. */
export async function attempt(run) {
  try {
    return await run();
  } catch (error) {
    if (error.name !== 'AbortError') toast(error.message);
    return null;
  }
}

/** Show map and timeline, which on a phone stand in place of the panel. */
export function showMap(page) {
  const seen = document.getElementById('map').checkVisibility({ visibilityProperty: true });
  if (!seen) page.url.set({ view: 'map', memory: null }, { push: true });
}

/** Move a place into the middle of the map. */
export function showPlace(page, [x, y]) {
  showMap(page);
  page.map.goTo(x, y);
}

/** Light memories up on map and timeline, and show the first that has a place. */
export function showOnMap(page, hits) {
  page.map.light(hits);
  const placed = hits.find((hit) => hit.position);
  if (placed) showPlace(page, placed.position);
}

/** Copy a link; where the browser does not allow that, show it. */
export async function copyLink(link) {
  try {
    await navigator.clipboard.writeText(link);
    toast('The link is copied.');
  } catch { // only a page over HTTPS or on localhost may
    const field = el('input', { value: link, readonly: true, 'aria-label': 'Link', class: 'wide' });
    await dialog({ title: 'Link', body: field });
  }
}

/** Propose a drive to `target` ({memory_id} or {position, map}); the bar of the drive asks for a yes. */
export const goThere = (page, target) => attempt(() => page.api.post('/api/go', target));

/** Return what goes to `target`, or says why nobody can; null: this person may not. */
export const goButton = (page, target) => (page.may('drive')
  ? button('go', 'Go there', () => goThere(page, target), { class: 'primary' })
  : noRobot(page) && el('p', { class: 'small muted' }, noRobot(page)));

/** Return why nobody can go there and how to change that, where there is no robot; null where there is
 * one. */
export const noRobot = (page) => (page.info.abilities.includes('drive') ? null
  : 'No robot is here to go there. The page with one: ros2 launch remembr_ros bringup.launch.py web:=true');

/** Let a person write a note about a place, or say what the robot did there; `place` {x, y, map} or null
 * for none. Return its id, or null. */
export async function writeNote(page, place) {
  const field = el('textarea', { rows: 4, maxlength: NOTE, required: true, dir: 'auto', autofocus: true });
  const need = () => {
    deed.hidden = !did.checked;
    field.required = deed.hidden || !told.kind.value.trim();
  };
  const did = el('input', { type: 'checkbox', onchange: need });
  const line = (props) => el('input', { maxlength: 500, dir: 'auto', autocomplete: 'off', ...props });
  const told = {
    kind: line({ list: 'kinds', oninput: need }),
    object: line(),
    receptacle: line(),
    outcome: el('select', {}, OUTCOMES.map((value) => el('option', { value }, value))),
  };
  const labels = { kind: 'Kind, such as pick', object: 'Object', receptacle: 'From, on or in what',
    outcome: 'Outcome' };
  const deed = el('div', { class: 'cards', role: 'group', 'aria-label': 'What the robot did', hidden: true },
    Object.entries(labels).map(([key, words]) => el('label', { class: 'field' }, words, told[key])),
    el('datalist', { id: 'kinds' }, KINDS.map((value) => el('option', { value }))));
  const where = place ? `About ${placeName([place.x, place.y])}, where the robot can recall it.`
    : 'About no place.';
  const yes = await dialog({
    title: 'Add a note',
    body: el('div', { class: 'cards' },
      el('label', { class: 'field' }, 'What the robot should remember', field),
      el('label', {}, did, ' The robot did this itself'), deed, el('p', { class: 'muted' }, where)),
    actions: [{ label: 'Add the note', value: true, kind: 'primary' }, { label: 'Cancel', value: false }],
  });
  const text = field.value.trim();
  const filled = Object.entries(told).map(([key, { value }]) => [key, value.trim()]);
  const more = did.checked ? Object.fromEntries(filled) : {};
  if (!yes || !(text || more.kind)) return null;
  const note = { text, position: place && [place.x, place.y, 0], map: place?.map, ...more };
  const made = await attempt(() => page.api.post(did.checked ? '/api/events' : '/api/notes', note));
  if (made) toast(did.checked ? 'The robot remembers that it did this.' : 'The note is stored.');
  return made?.id ?? null;
}

/** Forget a memory, once a person has seen what goes with it; return whether it is forgotten. */
export async function forget(page, memory) {
  const path = `/api/memories/${encodeURIComponent(memory.id)}`;
  const going = await attempt(() => page.api.get(`${path}/forgetting`));
  if (!going) return false;
  const answers = going.memories - 1;
  const yes = await dialog({
    title: 'Forget this memory?',
    body: el('div', {},
      el('ul', {},
        el('li', {}, `What was seen from ${clock(going.start)} to ${clock(going.end, going.start)}`,
          going.segments > 1 ? `, ${going.segments} segments in one` : ''),
        el('li', {}, going.pictures ? `${counted(going.pictures, 'picture')} will be deleted`
          : 'No picture will be deleted'),
        answers > 0 ? el('li', {}, counted(answers, 'answer that rests', 'answers that rest'),
          ' on it will be deleted') : null,
        going.shared ? el('li', {}, counted(going.shared, 'picture stays', 'pictures stay'),
          ', for other memories have them, too') : null),
      el('p', {}, 'This cannot be undone.')),
    actions: [{ label: 'Keep it', value: false }, { label: 'Forget', value: true, kind: 'danger' }],
  });
  if (!yes || !(await attempt(() => page.api.del(path)))) return false;
  toast('The memory is forgotten.');
  return true;
}
