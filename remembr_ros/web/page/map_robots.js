// Which robots the map shows: where they are several, each in a colour of its own, else their ways in those of time.

import { start, update } from './cards.js';
import { el } from './dom.js';

export const ROBOT_COLOURS = ['robot-1', 'robot-2', 'robot-3', 'robot-4', 'robot-5', 'robot-6'];

/** Return the legend, what lists in it who is shown, and the name of a robot's colour; null: it has none. */
export function mapRobots(page) {
  const { url } = page;
  const all = () => page.info.robots;
  const legend = el('ul', { class: 'map-legend', 'aria-label': 'Colours of robots' });
  const shown = () => (url.robots().length ? url.robots() : all());
  const colour = (name) => (shown().length > 1 && ROBOT_COLOURS[all().indexOf(name) % ROBOT_COLOURS.length]) || null;
  return {
    legend,
    colour,
    list: () => update(legend, shown().length > 1 ? shown() : [], (name) => name,
      (name) => el('li', {}, el('bdi', {}, start(name, 30) || 'without a name')), (node, name) => node.style.setProperty('--of', `var(--${colour(name)})`)),
  };
}
