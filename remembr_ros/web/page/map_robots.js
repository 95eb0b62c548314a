// Which robots the map shows: where they are several, each in a colour of its own, else their ways in those
// of time.

import { ROBOT_COLOURS } from './canvas.js';
import { start, update } from './cards.js';
import { el } from './dom.js';

/** Return the legend, what lists in it who is shown, and the name of a robot's colour; null: it has none. */
export function mapRobots(page) {
  const { url } = page;
  const all = () => page.info.robots;
  const legend = el('ul', { class: 'map-legend', 'aria-label': 'Colours of robots' });
  const shown = () => (url.robots().length ? url.robots() : all());
  const colour = (name) => (shown().length > 1 && ROBOT_COLOURS[all().indexOf(name) % ROBOT_COLOURS.length])
    || null;
  return {
    legend,
    colour,
    list: () => update(legend, shown().length > 1 ? shown() : [], (name) => name,
      (name) => el('li', {}, el('bdi', {}, start(name, 30) || 'without a name')),
        (node, name) => node.style.setProperty('--of', `var(--${colour(name)})`)),
  };
}
