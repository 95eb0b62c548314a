// What a click on the map means while a person chooses there: one place, the corners of another, one of some
// rooms.

import { button } from './dom.js';

/** Let persons choose on `canvas`; `show()` when what they are told, or have drawn, is another. */
export function mapPicking(page, canvas, show) {
  const { url } = page;
  const seen = () => canvas.checkVisibility({ visibilityProperty: true });
  const picking = {
    show,
    /** What is under way: {words, more, take(place), end(place)}; null: nothing, and a click asks what was
     * seen. */
    now: null,
    /** End it where the map is no longer seen, or, by `other`, is another one. */
    follow: (other) => picking.now && (other || !seen()) && picking.now.end(null),
    /** Return what a person reads meanwhile. */
    says: () => [picking.now.words(), ...(picking.now.more?.() ?? []),
      button(null, picking.now.close ?? 'Cancel', () => picking.now.end(null))].filter(Boolean),
    /**
     * Let a person choose a place: {x, y, radius}, or null; `words()` say what it is for, with `more()` to
     * press, `take(place)` in place of ending with it, and `back()` for the key Backspace.
     * @param {{words?: () => string, take?: (place: object) => void, back?: () => void,
     *   more?: () => any[], close?: string}} how
     */
    pick({ words = () => 'Choose a place on the map', take, back, ...rest } = {}) {
      picking.now?.end(null);
      const hidden = !seen(); // on a phone, where the search was
      const { view } = url.state();
      if (hidden) url.set({ view: 'map' });
      document.body.classList.add('picking');
      canvas.focus();
      return new Promise((resolve) => {
        const keys = ({ key, target }) => {
          if (key === 'Escape') picking.now.end(null);
          else if (key === 'Backspace' && !target.closest('input, textarea')) back?.();
        };
        const end = (place) => {
          picking.now = null;
          removeEventListener('keydown', keys);
          document.body.classList.remove('picking');
          if (hidden && seen()) url.set({ view });
          show();
          resolve(place);
        };
        addEventListener('keydown', keys);
        picking.now = { words, ...rest, take: take ?? end, end };
        show();
      });
    },
  };
  return picking;
}
