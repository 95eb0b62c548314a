// Time as the timeline shows it: what was long without a memory is folded into a narrow gap.

import { seconds } from './times.js';

const ROOM = 0.02; // of all that is not folded: beside the first and the last memory, and beside gaps
const LEAST_ROOM_S = 15;
const WIDE = 4; // rooms that a gap takes

/**
 * Return the mapping between time, Unix seconds, and folded time, for what /api/info tells; both grow
 * together. folds: [{a, b: the ends of the gap, from, to: what of it is folded}]; unfolded(begin, end), of
 * folded time: [[from, to]] in time.
 */
export function foldedTime({ first, last, gaps }) {
  const pauses = gaps.map((ends) => ends.map(seconds));
  const left = pauses.reduce((all, [a, b]) => all - (b - a), seconds(last ?? NaN) - seconds(first ?? NaN))
    || 0;
  const room = Math.max(left * ROOM, LEAST_ROOM_S);
  const folds = pauses.map(([a, b]) => ({ a, b, from: a + room, to: b - room, wide: WIDE * room }));
  const fold = (t) => folds.reduce((folded, { from, to, wide }) =>
    folded - Math.min(Math.max(t - from, 0), to - from) * (1 - wide / (to - from)), t);
  const unfold = (folded) => folds.reduce((t, { from, to, wide }) =>
    t + Math.min(Math.max(t - from, 0) / wide, 1) * (to - from - wide), folded);
  const gapAt = (t) => folds.find(({ from, to }) => t >= from && t <= to);
  const unfolded = (begin, end) => [-Infinity, ...folds.map(({ to }) => to)].map((t, i) =>
    [Math.max(t, unfold(begin)), Math.min(folds[i]?.from ?? Infinity, unfold(end))]).filter(([from, to]) =>
      from < to);
  return { room, folds, fold, unfold, gapAt, unfolded };
}
