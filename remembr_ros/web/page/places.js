// Places with names: which the map shows, drawn by a person or taken from the rooms of the map, and taken
// away.

import { attempt } from './acts.js';
import { saidName } from './cards.js';
import { announce, button, dialog, el, toast } from './dom.js';

const NAME = 200; // [characters]
const NAMELESS = /^unnamed \d+$/; // of a room that nothing gives a name

/** Tell whether a place has a point of its map. */
export function inside({ outline, center: [cx, cy], radius }, x, y) {
  if (radius) return Math.hypot(x - cx, y - cy) <= radius;
  return outline.filter(([x1, y1], i) => {
    const [x0, y0] = outline.at(i - 1);
    return y0 > y !== y1 > y && x < x0 + ((y - y0) / (y1 - y0)) * (x1 - x0);
  }).length % 2 === 1;
}

/** Return the name that a found room may have; empty: nothing says any. */
export const guess = ({ name }) => (NAMELESS.test(name) ? '' : name);

/** Return the places of the map, and what a person does with them; `draw()` when there are others. */
export function mapPlaces(page, picking, { here, ofPlace, inAddress, data }, draw) {
  const places = { named: [], found: [], corners: [], items }; // smaller ones first

  const load = () => page.api.get('/api/places').then((told) => {
    places.named = told.places;
    draw();
  }, () => {}); // what was there stays until the server is back
  page.on('memories', ({ anew }) => anew && load());
  page.on('exchange', ({ answer }) => answer && load()); // "This is room 315"
  page.on('back', load);
  load();

  const at = (all, { x, y }) => all.find((one) => here(one) && inside(one, x, y));

  /** Ask for the name of a place until it has one; return what the robot knows then, or '' where it has
   * none. */
  async function ask({ name = '', guessed, outline, map }, cancel) {
    const known = guess({ name });
    const line = (props) => el('input', { maxlength: NAME, dir: 'auto', autocomplete: 'off', ...props });
    const field = line({ value: known, required: true, autofocus: true });
    const others = line({ placeholder: 'separated by commas', maxlength: 10 * NAME });
    const wrong = el('p', { class: 'error', role: 'alert', dir: 'auto', hidden: true });
    for (;;) {
      const yes = await dialog({ title: 'What is this place called?',
        body: el('div', { class: 'cards' }, wrong,
        el('label', { class: 'field' }, 'Name, such as kitchen or room 315', field),
        known && el('p', { class: 'small muted' }, `A guess: ${guessed}.`),
        el('label', { class: 'field' }, 'It is also called', others)),
      actions: [{ label: 'Save', value: true, kind: 'primary' }, { label: cancel, value: false }] });
      if (!yes) return '';
      const other_names = others.value.split(',').map((each) => each.trim()).filter(Boolean);
      try {
        await page.api.post('/api/places', { name: field.value, other_names, outline, map });
        load();
        return `The robot knows ${saidName(field.value.trim())} now.`;
      } catch (error) {
        wrong.textContent = error.message;
        wrong.hidden = false;
      }
    }
  }

  /** Let a person draw a place, corner by corner. */
  async function outline() {
    const { corners } = Object.assign(places, { corners: [] });
    const back = () => picking.show(corners.pop());
    for (;;) {
      const done = await picking.pick({
        words: () => (corners.length ? `${corners.length} corner${corners.length > 1 ? 's' : ''}`
          : 'Choose the corners, one after the other'),
        more: () => [corners.length > 2 && button(null, 'Done', () => picking.now.end(corners),
          { class: 'primary' }),
          corners.length > 0 && button(null, 'Back', back,
            { title: 'Take the last corner away (Backspace)' })],
        take: ({ x, y }) => picking.show(corners.push([x, y])),
        back,
      });
      const known = done && (await ask({ outline: corners, ...ofPlace() }, 'Change its corners'));
      if (known) toast(known);
      if (known || !done) break;
    }
    places.corners = [];
    draw();
  }

  /** Let a person name rooms that the map shows. */
  async function rooms() {
    const told = await attempt(() => page.api.get('/api/places/found', ofPlace()));
    if (!told?.places.length) return told && toast('The map shows no room that has no name.');
    let next = 0;
    const show = () => {
      const room = places.found[next++ % places.found.length];
      page.map.goTo(...room.center);
      announce(guess(room) || 'A room');
    };
    for (places.found = told.places; places.found.length;) {
      draw();
      const place = await picking.pick({ words: () => 'Choose a room to give it a name', close: 'Close',
        more: () => [button(null, 'Next room', show)] });
      if (!place) break;
      const room = at(places.found, place);
      const known = room && (await ask(room, 'Cancel'));
      if (!known) continue;
      announce(known); // where it is shown, too
      places.found = places.found.filter((one) => one !== room);
    }
    places.found = [];
    draw();
  }

  async function remove({ id, name: known }) {
    const yes = await dialog({ title: `Remove the name ${known}?`, body: 'What was remembered there stays.',
      actions: [{ label: 'Keep it', value: false }, { label: 'Remove', value: true, kind: 'danger' }] });
    if (yes && (await attempt(() => page.api.del(`/api/memories/${encodeURIComponent(id)}`)))) load();
  }

  /** Return what can be done at a place, for its menu. */
  function items(x, y) {
    const place = at(places.named, { x, y });
    const names = page.may('note') && !picking.now;
    return [
      place && { label: `What is in ${saidName(place.name)}?`, icon: 'search',
        run: () => page.url.set({ ...inAddress(),
        view: 'search', place: place.name, q: null, near: null, radius: null, memory: null },
          { push: true }) },
      names && { label: 'Draw a place here …', icon: 'place', run: outline },
      names && data.grid && { label: 'Show the rooms of this map', icon: 'map', run: rooms },
      place && page.may('forget') && { label: `Remove the name ${place.name} …`, icon: 'trash',
        run: () => remove(place) },
    ].filter(Boolean);
  }

  return places;
}
