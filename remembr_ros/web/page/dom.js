// Elements made without HTML: what comes from a memory is only ever text.

/** Make an element: `onclick` and the like listen, `dataset` is an object, children are text or nodes. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'dataset') Object.assign(node.dataset, value);
    else if (name === 'value') node.value = value;
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const ICONS = {
  ask: 'M4 5h16v11H9l-5 4z',
  back: 'M15 5l-7 7 7 7',
  camera: 'M4 8h4l2-3h4l2 3h4v11H4zM12 16.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2',
  close: 'M6 6l12 12M18 6L6 18',
  dark: 'M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5z',
  fit: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  go: 'M4 12h15M13 6l6 6-6 6',
  light: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19'
    + 'M5 19l1.5-1.5M17.5 6.5L19 5',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  map: 'M9 4L3 6v14l6-2 6 2 6-2V4l-6 2-6-2zM9 4v14M15 6v14',
  mic: 'M12 15a3 3 0 0 0 3-3V6a3 3 0 0 0-6 0v6a3 3 0 0 0 3 3zM6 11a6 6 0 0 0 12 0M12 17v4',
  minus: 'M5 12h14',
  next: 'M9 5l7 7-7 7',
  note: 'M5 4h14v11l-5 5H5zM19 15h-5v5M8 8h8M8 12h5',
  place: 'M12 21s7-6.5 7-12a7 7 0 1 0-14 0c0 5.5 7 12 7 12zM12 11.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  plus: 'M5 12h14M12 5v14',
  prev: 'M15 5l-7 7 7 7',
  robot: 'M5 9h14v10H5zM12 9V5M9.5 13v2M14.5 13v2M3 13v3M21 13v3',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5',
  send: 'M4 12l16-8-6 16-3-7z',
  source: 'M4 6c0-3 16-3 16 0s-16 3-16 0v12c0 3 16 3 16 0V6M4 12c0 3 16 3 16 0',
  state: 'M3 12h4l3-8 4 16 3-8h4',
  stop: 'M6 6h12v12H6z',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
};

/** Return a drawing of 24 by 24, hidden from screen readers: what it says stands beside it or in
 * aria-label. */
export function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  for (const [key, value] of Object.entries({ viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true' })) {
    svg.setAttribute(key, value);
  }
  path.setAttribute('d', ICONS[name] ?? '');
  svg.append(path);
  return svg;
}

/** Say something to who hears the page rather than sees it. */
export function announce(text) {
  document.getElementById('announce').textContent = text;
}

/** Return what runs a function in so many ms, in place of what it was to run before; null: nothing. */
export function delayed() {
  let timer;
  return (run, ms) => {
    clearTimeout(timer);
    if (run) timer = setTimeout(run, ms);
  };
}

const hide = delayed();

/** Show for a few seconds what came of something, and say it. */
export function toast(text) {
  const place = document.getElementById('toast');
  place.textContent = text;
  place.hidden = false;
  hide(() => (place.hidden = true), 6000);
}

/** Make a button with an icon, if one is named; it is busy while what `run` returns, if a promise, is not
 * settled. */
export const button = (drawing, words, run, props = {}) => el('button', {
  type: 'button', onclick: ({ currentTarget }) => busy(currentTarget, run()), ...props,
}, drawing && icon(drawing), words);

/** Mark a control as at work until a promise is settled; return the promise. */
export async function busy(node, promise) {
  if (!(promise instanceof Promise)) return promise;
  node.setAttribute('aria-busy', 'true');
  if ('disabled' in node) node.disabled = true;
  try {
    return await promise;
  } finally {
    node.removeAttribute('aria-busy');
    if ('disabled' in node) node.disabled = false;
  }
}

/**
 * @typedef {object} Action what a person may choose
 * @property {string} label
 * @property {any} value
 * @property {'primary' | 'danger'} [kind]
 */

/**
 * Ask a person; of the actions Enter takes the first. Resolves with the value of the action, or null for Esc.
 * @param {{title: string, body?: string | Node, actions?: Action[]}} what
 * @returns {Promise<any>}
 */
export function dialog({ title, body, actions = [{ label: 'Close', value: true, kind: 'primary' }] }) {
  const buttons = actions.map(({ label, kind = '' }, i) => el('button', { value: String(i), class: kind,
    formnovalidate: kind !== 'primary' }, label));
  const box = el('dialog', { 'aria-labelledby': 'dialog-title' },
    el('form', { method: 'dialog' },
      el('h2', { id: 'dialog-title', dir: 'auto' }, title),
      el('div', { class: 'dialog-body', dir: 'auto' }, body ?? ''),
      el('div', { class: 'dialog-actions' }, buttons)));
  document.body.append(box);
  box.showModal();
  return new Promise((resolve) => {
    box.addEventListener('close', () => {
      box.remove();
      resolve(box.returnValue === '' ? null : actions[Number(box.returnValue)].value);
    }, { once: true });
  });
}

let closeMenu = null; // of the menu that is open

/** @typedef {{label: string, icon?: string, run?: () => void}} Item of a menu */

/**
 * Show a menu at a place of the window; an item without `run` only says something.
 * @param {number} x
 * @param {number} y
 * @param {Item[]} items
 */
export function menu(x, y, items) {
  closeMenu?.();
  const before = /** @type {HTMLElement} */ (document.activeElement);
  const close = closeMenu = () => {
    closeMenu = null;
    box.remove();
    document.removeEventListener('pointerdown', outside, true);
    before?.focus?.({ preventScroll: true });
  };
  const outside = (event) => box.contains(event.target) || close();
  const entries = items.map(({ label, icon: name, run }) => el('button', {
    type: 'button', role: 'menuitem', tabindex: '-1', 'aria-disabled': run ? null : 'true',
    onclick: run && (() => {
      close();
      run();
    }),
  }, name ? icon(name) : null, label));
  const box = el('div', { class: 'menu', role: 'menu', 'aria-label': 'What to do here' }, entries);
  box.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = entries.findIndex((entry) => entry === document.activeElement);
    if (step) entries[(at + step + entries.length) % entries.length].focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.body.append(box);
  box.style.left = `${Math.max(4, Math.min(x, innerWidth - box.offsetWidth - 8))}px`;
  box.style.top = `${Math.max(4, Math.min(y, innerHeight - box.offsetHeight - 8))}px`;
  document.addEventListener('pointerdown', outside, true);
  entries[0]?.focus();
}
