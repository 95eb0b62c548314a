// Objects: what is known of one, what a person may correct of it, and which of them the map shows.

import { attempt } from './acts.js';
import { fact, memoryLink, moment, picture, placeName, since } from './cards.js';
import { button, dialog, el, toast } from './dom.js';
import { fromField, iso, seconds, toField } from './times.js';

const PAST = 20; // entries of the history that are not folded
const OTHERS = 6; // that may be the same thing

const spanOf = (from, to) => (to === from ? [moment(from)] : [moment(from), ' – ', moment(to, from)]);

/** Return what is known of an object; `where` and `actions` as of every memory. */
export function aboutObject(page, { memory, object }, where, actions) {
  const { id, name, recognised_as: kind, presence, relations, map_id } = object;
  const may = page.may('correct');

  async function correct(body) {
    const told = await attempt(() => page.api.post(`/api/objects/${encodeURIComponent(id)}`, { ...body, map_id }));
    if (!told) return;
    toast('What you said is kept.');
    page.url.set({ memory: told.object?.id ?? null }, { push: true }); // of two that are one, the older id stays
  }

  /** Ask, and correct what `body()` then says. */
  const asked = async (title, about, yes, body) =>
    (await dialog({ title, body: about, actions: [...yes, { label: 'Cancel', value: false }] })) && correct(body());

  function rename() {
    const field = el('input', { value: name === kind ? '' : name, maxlength: 200, dir: 'auto', autofocus: true });
    return asked('What is it called?', el('label', { class: 'field' }, `Empty: ${kind}, as the robot recognised it`, field),
      [{ label: 'Rename', value: true, kind: 'primary' }], () => ({ action: 'rename', name: field.value.trim() }));
  }

  async function merge() {
    const near = { called: kind, position: object.position.join(','), robot: object.robot, map_id, limit: OTHERS + 1 };
    const found = await attempt(() => page.api.get('/api/objects', near));
    const others = found?.objects.filter((other) => other.id !== id).slice(0, OTHERS) ?? [];
    const form = el('div', { class: 'same' }, others.map((other) => el('label', {},
      el('input', { type: 'radio', name: 'other', value: other.id, required: true }), picture(other),
      el('span', {}, other.name, ' at ', placeName(other.position), ', ', since(other.last_seen)))));
    return asked(others.length ? 'Which one is the same thing?' : `No other ${kind} is known here`, form,
      others.length ? [{ label: 'They are one', value: true, kind: 'primary' }] : [],
      () => ({ action: 'merge', other: form.querySelector(':checked').value }));
  }

  const remove = () => asked('Is there no such thing?', 'It is not shown any more, nor found again at this place.',
    [{ label: 'Delete', value: true, kind: 'danger' }], () => ({ action: 'delete' }));
  const there = memory.facts.taken ? button('place', 'It is there', () => correct({ action: 'there' }))
    : presence === 'present' && button('close', 'Not there any more', () => correct({ action: 'gone' }));

  const past = object.history.toReversed().map(({ at, event, until, from, to }) => el('li', {},
    event === 'moved' ? [`Moved from ${placeName(from)} to ${placeName(to)}, `] : event === 'gone' ? 'Gone, looked at ' : 'Seen ',
    spanOf(at, until),
    may && event === 'moved' && button(null, 'Another thing since then', () => correct({ action: 'split', time: until }), { class: 'chip' })));

  return [
    el('dl', { class: 'facts' },
      fact('Now', presence === 'missing' ? ['gone since ', moment(object.missing_since)] : ['seen last ', since(object.last_seen)]),
      where,
      relations.length ? fact('Lies', relations.flatMap((each, i) => [i ? ', ' : '', `${each.relation} the `,
        memoryLink(each, page, {}, each.name)])) : null,
      name === kind ? null : fact('Recognised as', kind),
      object.colour ? fact('Colour', object.colour) : null,
      fact('Seen', `${object.observations} times, first `, moment(object.first_seen))),
    actions,
    may ? el('div', { class: 'row', role: 'group', 'aria-label': 'Correct' }, button('note', 'Rename', rename), there,
      button('link', 'Same as …', merge), button('trash', 'No such thing', remove, { class: 'forget' })) : '',
    el('h3', {}, 'History'),
    el('ol', { class: 'past', 'aria-label': 'History' }, past.slice(0, PAST)),
    past.length > PAST ? el('details', {}, el('summary', {}, 'Earlier'), el('ol', { class: 'past' }, past.slice(PAST))) : '',
  ];
}

/** Return what lets a person choose since when the objects on the map have changed; where there are any. */
export function changedSince(page) {
  const { url } = page;
  const choose = (t) => url.set({ changed: Number.isFinite(t) ? iso(t) : null }, { push: true });
  const field = el('input', { type: 'datetime-local', onchange: () => choose(fromField(field.value)) });
  const all = button('close', '', () => choose(NaN), { 'aria-label': 'Show all objects', title: 'Show all objects' });
  const box = el('div', { class: 'map-changed' }, el('label', {}, 'Changed since ', field), all);
  const show = () => {
    box.hidden = !page.info.sources.includes('object');
    all.hidden = !url.state().changed;
    field.value = all.hidden ? '' : toField(seconds(url.state().changed)).slice(0, 16);
  };
  url.onChange(show);
  page.on('memories', show);
  show();
  return box;
}
