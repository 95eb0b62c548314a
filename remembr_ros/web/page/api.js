// The JSON API: requests, streams of events, and what happens when the server wants a token or is away.

import { delayed, dialog, el } from './dom.js';

/** Raised with the server's own sentence; status 0: it was not reached. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const SILENCE_MS = 45_000; // [ms] a stream says something every 15 s; longer, and the connection is dead
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

let login = null; // the one dialog, for however many requests were refused

function askForToken() {
  login ??= (async () => {
    for (let said = ''; ; ) {
      const field = el('input', { type: 'password', name: 'token', autocomplete: 'current-password',
        required: true,
        'aria-describedby': 'login-said' });
      const given = await dialog({
        title: 'A token is needed',
        body: el('div', {},
          el('p', { class: 'muted' }, 'It is in the file that the server was started with.'),
          el('label', { class: 'field' }, 'Token', field),
          el('p', { id: 'login-said', role: 'alert' }, said)),
        actions: [{ label: 'Log in', value: true, kind: 'primary' }],
      });
      if (!given || !field.value) continue;
      try {
        await once('POST', '/api/login', { body: { token: field.value } });
        return;
      } catch (error) {
        said = error.message;
      }
    }
  })().finally(() => (login = null));
  return login;
}

/**
 * Send one request.
 * @param {string} method
 * @param {string} path
 * @param {{params?: object, body?: any, signal?: AbortSignal, accept?: string}} options
 */
async function once(method, path, { params = {}, body, signal, accept = 'application/json' }) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    // '' is a map, too
    const told = (each) => each !== undefined && each !== null && (each !== '' || key === 'map');
    for (const each of [value].flat().filter(told)) query.append(key, each);
  }
  const raw = body instanceof Blob;
  const headers = { Accept: accept };
  if (body !== undefined) headers['Content-Type'] = raw ? body.type : 'application/json';
  let response;
  try {
    response = await fetch(query.size ? `${path}?${query}` : path, {
      method, headers, signal, body: raw || body === undefined ? body : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, 'The server cannot be reached.');
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  throw new ApiError(response.status, told.error ?? `The server answered ${response.status}.`);
}

async function request(method, path, options) {
  for (;;) {
    try {
      return await once(method, path, options);
    } catch (error) {
      if (error.status !== 401) throw error;
      await askForToken();
    }
  }
}

const parsed = async (response) => (response.status === 204 ? null : response.json());

/** GET; `params`: null is left out, and '' but for a map; arrays are repeated. Raises ApiError, and
 * AbortError by the signal. */
export const get = async (path, params = {}, options = { signal: undefined }) =>
  parsed(await request('GET', path, { params, ...options }));

/** POST `body` as JSON, a Blob as it is. */
export const post = async (path, body) => parsed(await request('POST', path, { body }));

/** DELETE. */
export const del = async (path) => parsed(await request('DELETE', path, {}));

/**
 * Hear a stream of events until it ends.
 * @param {string} method
 * @param {string} path
 * @param {{body?: object, signal?: AbortSignal, onOpen?: () => void,
 *   onEvent: (kind: string, data: any) => void}} how
 */
async function stream(method, path, { body, signal, onEvent, onOpen }) {
  const dead = new AbortController();
  const end = () => dead.abort();
  signal?.addEventListener('abort', end);
  const alive = delayed();
  try {
    alive(end, SILENCE_MS);
    const response = await request(method, path, { body, signal: dead.signal, accept: 'text/event-stream' });
    onOpen?.();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ''; ; ) {
      const { value, done } = await reader.read();
      if (done) return;
      alive(end, SILENCE_MS);
      const blocks = (rest + value).replaceAll('\r\n', '\n').split('\n\n');
      rest = blocks.pop();
      for (const block of blocks) {
        const kind = /^event: ?(.*)$/m.exec(block)?.[1];
        const data = [...block.matchAll(/^data: ?(.*)$/gm)].map((line) => line[1]).join('\n');
        if (!kind || !data) continue;
        try {
          onEvent(kind, JSON.parse(data));
        } catch (error) { // one view's fault is none of the connection
          console.error(kind, error);
        }
      }
    }
  } catch (error) {
    if (error instanceof ApiError || signal?.aborted) throw error;
    throw new ApiError(0, 'The connection was lost.');
  } finally {
    alive(null);
    signal?.removeEventListener('abort', end);
  }
}

/** Ask; onExchange(EXCHANGE) at each progress; resolves with the last one. */
export async function streamAsk(body, onExchange) {
  let last = null;
  await stream('POST', '/api/ask', { body, onEvent: (kind, data) => {
    if (kind === 'exchange') onExchange((last = data));
  } });
  return last;
}

/**
 * Call onEvent(kind, data) and onLost(bool, why) of what happens, as long as the page is seen. A page that is
 * hidden hears nothing and holds no connection; when it is seen again, or the server is back, `back` comes
 * first, then, if the memory changed since the version that the page shows, `memories` with `anew`.
 */
export function follow(version, onEvent, onLost) {
  let run = null;
  let again = document.hidden; // what a page shows that was hidden at first may be old
  const hear = (kind, data) => {
    if (kind === 'hello') {
      if (again) onEvent('back', {});
      again = true;
      if (data.version !== version) onEvent('memories', { anew: true, new: [] });
    }
    version = data.version ?? version;
    if (kind !== 'hello') onEvent(kind, data);
  };
  const hearAll = async (signal) => {
    for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      const opened = () => {
        wait = FIRST_WAIT_MS / 2;
        onLost(false);
      };
      let why = '';
      await stream('GET', '/api/events', { signal, onEvent: hear, onOpen: opened })
        .catch((error) => (why = error.status ? error.message : ''));
      if (signal.aborted) return;
      onLost(true, why);
      await new Promise((resolve) => setTimeout(resolve, wait * (0.75 + Math.random() / 2)));
    }
  };
  const seen = () => {
    run?.abort();
    run = document.hidden ? null : new AbortController();
    if (run) hearAll(run.signal);
  };
  document.addEventListener('visibilitychange', seen);
  seen();
}
