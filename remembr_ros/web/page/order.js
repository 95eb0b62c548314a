// In which order what was found is listed, and what of it is alike.

import { isWeak } from './cards.js';

const NEAR_M = 3; // [m] within which it was seen from about the same place

/** Return hits as they are read: what matches, notes of persons, what hardly fits; each as found, or the
 * newest first. */
export function ordered(hits, newest) {
  const rank = (hit) => (!isWeak(hit) ? 0 : hit.source === 'person' ? 1 : 2);
  return [...hits].sort((a, b) => rank(a) - rank(b) || (newest ? Date.parse(b.end) - Date.parse(a.end) : 0));
}

/** Return hits in groups of what a robot tells in the same words from about the same place, in the order of
 * the first. */
export function grouped(hits) {
  const groups = [];
  for (const hit of hits) {
    const group = groups.find(([first]) => alike(first, hit));
    if (group) group.push(hit);
    else groups.push([hit]);
  }
  return groups;
}

const alike = (a, b) => ['robot', 'source', 'map'].every((key) => a[key] === b[key])
  && ['caption', 'sentence'].some((key) => a[key] && a[key] === b[key])
  && (a.position && b.position ? Math.hypot(a.position[0] - b.position[0],
    a.position[1] - b.position[1]) <= NEAR_M
    : !a.position && !b.position);
