// Which of several maps is shown: that of the address, else the robot's, else the one with most memories.

import { el } from './dom.js';

export const NO_MAP = '-'; // in the address: memories without a map, where there are others with one

/** Let a person choose; `data` knows where the robot is. */
export function mapChoice(page, data) {
  const { url } = page;
  const choice = /** @type {HTMLSelectElement} */ (document.getElementById('map-choice'));
  const maps = () => page.info.maps;
  const known = (id) => maps().some(({ map }) => map === id);
  const ofRobot = () => data.situation.robots[0]?.map;
  const chosen = () => {
    const asked = url.state().map === NO_MAP ? '' : url.state().map;
    const largest = [...maps()].sort((a, b) => b.memories - a.memories)[0]?.map ?? '';
    return [asked, ofRobot()].find(known) ?? largest;
  };
  const mapId = () => (maps().length > 1 ? chosen() : null);
  choice.addEventListener('change', () => url.set(
    { map: choice.value || NO_MAP, x: null, y: null, zoom: null }, { push: true }));

  return {
    /** Return which is shown; null: there is nothing to choose. */
    mapId,
    /** Tell whether a thing, which has a map, is on it. */
    here: (item) => mapId() === null || item.map === chosen() || !known(item.map),
    /** Return where on it memories are: {low, high} [m]; undefined: there are none. */
    area: () => maps().find(({ map }) => mapId() === null || map === chosen()),
    /** Return the part of the address that names it. */
    inAddress: () => ({ map: mapId() === null ? null : mapId() || NO_MAP }),
    /** Return on which map a note or a goal is: where nobody chose one that of the robot, which may be a
     * new one. */
    ofPlace() {
      const map = (!url.state().map && ofRobot()) || chosen();
      return map ? { map } : {};
    },
    /** Show what there is to choose. */
    list() {
      const options = maps().map(({ map, memories }) =>
        el('option', { value: map }, `${map || 'without a map'} (${memories})`));
      if (document.activeElement !== choice) choice.replaceChildren(...options);
      choice.value = chosen();
    },
  };
}
