// Objects: what is known of one, what a person may correct of it, and which of them the map shows.

import { attempt } from './acts.js';
import { fact, memoryLink, moment, picture, placeName, since } from './cards.js';
import { button, dialog, el, toast } from './dom.js';
import { fromField, iso, seconds, toField } from './times.js';

/** Return what is known of an object; `where` and `actions` as of every memory. */
export function aboutObject(page, { memory, object }, where, actions) {
  const { id, name, recognised_as: kind, presence, relations, robot, map } = object;

  const correct = (body) => attempt(async () => {
    const told = await page.api.post(`/api/objects/${encodeURIComponent(id)}`, { ...body, map });
    toast('The robot remembers it so now.');
    // of two that are one, the older id stays
    page.url.set({ memory: told.object?.id ?? null }, { push: true });
  });

  /** @param {'primary' | 'danger'} looks */
  const asked = async (title, body, label, said, looks = 'primary') => (await dialog({ title, body,
    actions: [{ label, value: true, kind: looks }, { label: 'Cancel', value: false }] })) && correct(said());
  const field = el('input', { value: name === kind ? '' : name, maxlength: 200, dir: 'auto',
    autofocus: true });
  const rename = () => asked('What is it called?',
    el('label', { class: 'field' }, `Empty: ${kind}, as the robot recognised it`, field),
    'Rename', () => ({ action: 'rename', name: field.value }));

  async function merge() {
    const found = await attempt(() => page.api.get('/api/objects',
      { called: kind, position: object.position.join(','), robot, map, limit: 7 }));
    const others = found?.objects.filter((other) => other.id !== id) ?? []; // the six nearest
    if (!others.length) return toast(`No other ${kind} is known here.`);
    const form = el('div', { class: 'cards' }, others.map((other) => el('label', { class: 'card' },
      picture({ ...other, caption: other.name }), el('span', { dir: 'auto' },
        el('input', { type: 'radio', name: 'other', value: other.id, required: true }),
        ` ${other.name} at ${placeName(other.position)}, `, since(other.last_seen)))));
    return asked('Which one is the same thing?', form, 'They are one',
      () => ({ action: 'merge', other: form.querySelector(':checked').value }));
  }

  const remove = () => asked('Is there no such thing?',
    'It is not shown any more, nor found again at this place.', 'Delete', () => ({ action: 'delete' }),
    'danger');
  const there = memory.facts.taken ? button('place', 'It is there', () => correct({ action: 'there' }))
    : presence === 'present' && button('close', 'Not there any more', () => correct({ action: 'gone' }));
  const past = object.history.toReversed().map(({ at, event, until, from, to }) => el('li', {},
    event === 'moved' ? `Moved from ${placeName(from)} to ${placeName(to)}, ` : event === 'gone'
      ? 'Gone, looked at ' : 'Seen ',
    moment(at), until === at ? null : [' – ', moment(until, at)],
    event === 'moved' && page.may('correct') && button(null, 'Another thing since then',
      () => correct({ action: 'split', time: until }), { class: 'chip' })));

  return [
    el('dl', { class: 'facts' },
      presence === 'missing' ? fact('Now', 'gone since ', moment(object.missing_since))
        : fact('Now', 'seen last ', since(object.last_seen)),
      where,
      relations.length ? fact('Lies', ...relations.flatMap((each, i) =>
        [`${i ? ', ' : ''}${each.relation} the `,
        memoryLink(each, page, {}, each.name)])) : null,
      name === kind ? null : fact('Recognised as', kind),
      object.colour ? fact('Colour', object.colour) : null,
      fact('Seen', `${object.observations} times, first `, moment(object.first_seen))),
    actions,
    page.may('correct') ? el('div', { class: 'row', role: 'group', 'aria-label': 'Correct' },
      button('note', 'Rename', rename), there, button('link', 'Same as …', merge),
      button('trash', 'No such thing', remove, { class: 'forget' })) : '',
    el('h3', {}, 'History'), el('ol', { class: 'facts', 'aria-label': 'History' }, past)];
}

/** Return what lets a person choose since when the objects on the map have changed; where there are any. */
export function changedSince(page) {
  const choose = (changed) => page.url.set({ changed }, { push: true });
  const field = el('input', { type: 'datetime-local',
    onchange: () => choose(field.value && iso(fromField(field.value))) });
  const all = button('close', '', () => choose(null),
    { 'aria-label': 'Show all objects', title: 'Show all objects' });
  const box = el('div', { class: 'map-changed' }, el('label', {}, 'Changed since ', field), all);
  const show = () => {
    box.hidden = !page.info.sources.includes('object');
    all.hidden = !page.url.state().changed;
    field.value = all.hidden ? '' : toField(seconds(page.url.state().changed)).slice(0, 16);
  };
  page.url.onChange(show);
  page.on('memories', show);
  show();
  return box;
}
