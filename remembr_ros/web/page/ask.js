// Asking: a conversation with its progress, answers and their evidence; what others asked appears, too.

import { attempt, goButton, showOnMap } from './acts.js';
import { clamped, lasted, moment, placeName, showCards, since, update, windowName } from './cards.js';
import { announce, button, el, icon } from './dom.js';
import { microphone } from './microphone.js';
import { iso, now } from './times.js';

const KEPT = 50; // exchanges shown
const EVIDENCE = 3; // memories of an answer shown at first
const MOST = 20; // and at most
const END_PX = 80; // [px] from the end, within which what comes is scrolled to
const QUESTION = 400; // [characters] of a question before 'more'
const ANSWER = 1_200; // and of an answer
const STAGES = { waiting: 'Waiting for its turn', recalling: 'Recalling', thinking: 'Thinking',
  answering: 'Answering' };
const EXAMPLES = ['Where is the kitchen?', 'What did you see today?', 'Have you seen a fire extinguisher?'];
const PERHAPS = 0.5; // confidence below which an answer may as well be wrong
const SURE = [[0.9, 'Very sure'], [0.7, 'Fairly sure'], [0.4, 'Not sure'], [0, 'A guess']];

/** Return the name of this page's conversation, for questions that follow up on others; the same after a
 * reload. */
function conversation() {
  const made = sessionStorage.getItem('conversation')
    ?? [...crypto.getRandomValues(new Uint8Array(12))].map((byte) =>
      byte.toString(16).padStart(2, '0')).join('');
  sessionStorage.setItem('conversation', made);
  return made;
}

/** Return what an answer comes to, before its sentence; null: the sentence says it. */
function headline({ kind, binary, position, time, duration_minutes: minutes, evidence, every_place: every,
  confidence }) {
  const unsure = confidence < PERHAPS;
  const line = (...parts) => el('p', { class: 'headline' }, parts);
  const perhaps = unsure ? 'Perhaps ' : null;
  if (kind === 'binary' && unsure) return line(binary ? 'Perhaps yes' : 'Perhaps not');
  if (kind === 'binary') return el('p', { class: `headline ${binary ? 'yes' : 'no'}` },
    binary ? 'Yes' : 'No');
  if (kind === 'not_seen') return line(unsure ? 'Perhaps not seen' : 'Not seen');
  const places = new Set(evidence.filter((hit) => every
    && hit.position).map((hit) => String(hit.position))).size;
  if (places > 1) return line(icon('place'), perhaps, `${places} places`);
  if (kind === 'position' && position) return line(icon('place'), unsure ? 'Perhaps here: ' : null,
    placeName(position));
  if (kind === 'time' && time) return line(icon('clock'), perhaps, moment(time), since(time));
  if (kind === 'duration' && minutes !== null) return line(icon('clock'), perhaps, lasted(60 * minutes));
  return null;
}

/** Let a person ask in `root`. */
export function mountAsk(root, page) {
  const exchanges = new Map(); // by id, newest last
  const mine = new Set(); // ids of what this page asked

  const chosen = el('p', { class: 'small muted', role: 'status' });
  const list = el('ol', { class: 'exchanges', 'aria-label': 'Questions and answers' });
  const nothing = el('div', { class: 'nothing' },
    el('p', {}, 'Ask what the robot has seen, where, when and for how long.'),
    page.may('ask') ? el('div', { class: 'row' },
      EXAMPLES.map((text) => el('button', { type: 'button', class: 'chip', onclick: () => ask(text) },
        text))) : null);
  const field = el('textarea', { name: 'question', rows: 1, maxlength: 2000, dir: 'auto',
    enterkeyhint: 'send',
    'aria-label': 'Question', placeholder: 'Ask the robot', onkeydown: (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    } });
  const form = el('form', { class: 'ask-form', onsubmit: (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!text) return;
    field.value = '';
    ask(text);
  } }, field, microphone(page, (heard) => {
    field.value = heard;
    field.focus();
  }), el('button', { class: 'primary', 'aria-label': 'Ask' }, icon('send')));
  root.append(list, nothing, page.may('ask') ? chosen : '',
    page.may('ask') ? form : el('p', { class: 'muted' }, page.info.abilities.includes('ask')
    ? 'To ask, log in with an ask or act token.'
      : 'Nothing here answers questions: no planner is configured.'));

  /** Return which memories count: those of what is chosen on this page. */
  function scope() {
    const { after, before, robot, map } = page.url.state();
    return { after, before, robot: robot ? [robot] : [], map: map ? page.map.mapId() : null };
  }

  function showScope() {
    const { after, before, robot: [robot], map } = scope();
    const words = [robot, map && `map ${map}`, windowName({ after, before })].filter(Boolean).join(', ');
    chosen.textContent = words && `Asks of ${words}`;
  }

  async function ask(question) {
    let id = null;
    try {
      const last = await page.api.streamAsk({ question, conversation: conversation(), ...scope() },
        (exchange) => {
        const begun = id === null;
        id = exchange.id;
        mine.add(id);
        take(exchange);
        if (begun) toEnd();
        announce(exchange.answer?.text ?? (exchange.error || STAGES[exchange.stage] || ''));
        if (!exchange.answer) return;
        page.map.light(exchange.answer.evidence);
        list.querySelector(`[data-key="${CSS.escape(id)}"]`).scrollIntoView({ block: 'start' });
      });
      if (!last?.answer && !last?.error) throw new Error('The connection was lost.');
    } catch (error) { // where it was begun, the answer may come all the same, as an event
      if (id !== null) return take({ ...exchanges.get(id), error: error.message, lost: true });
      field.value ||= question;
      take({ id: `refused ${Date.now()}`, question, asker: '', at: iso(now()), error: error.message,
        answer: null });
    }
  }

  function take(exchange) {
    const known = exchanges.get(exchange.id);
    // An end stays one, whatever overtakes it, but for that of an answer whose memories were forgotten.
    const forgotten = known?.answer && exchange.error && !exchange.answer;
    const ended = (known?.answer && !forgotten) || (known?.error && !known.lost);
    if (forgotten) page.map.light([]);
    const rounds = (known?.rounds ?? 0) + (exchange.stage === 'recalling' && known?.stage !== 'recalling' ? 1
      : 0);
    if (!ended) exchanges.set(exchange.id, { ...exchange, rounds });
    for (const id of [...exchanges.keys()].slice(0, -KEPT)) exchanges.delete(id) && mine.delete(id);
    show();
  }

  const toEnd = () => (root.scrollTop = root.scrollHeight);

  function show() {
    nothing.hidden = exchanges.size > 0;
    const atEnd = root.scrollHeight - root.scrollTop - root.clientHeight < END_PX;
    const inTime = [...exchanges.values()].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
    update(list, inTime, ({ id }) => id, begin, follow);
    if (atEnd) toEnd();
  }

  function begin({ question }) {
    return el('li', { class: 'exchange' },
      el('div', { class: 'question' }, clamped(question, QUESTION),
        el('p', { class: 'small muted' })),
      el('div', { class: 'answer' }));
  }

  function follow(node, exchange) {
    const { asker, own, at, stage, detail, memories_found: found, rounds, answer, error } = exchange;
    const who = mine.has(exchange.id) || !asker ? ''
      : `Asked by ${own && asker === 'local' ? 'another page' : asker}, `;
    const sign = [who, stage, detail, found, Boolean(answer), error].join();
    if (node.dataset.sign === sign) return;
    node.dataset.sign = sign;
    node.querySelector('.question > .small').replaceChildren(el('bdi', {}, who), moment(at));
    const place = node.lastElementChild;
    if (answer) place.replaceChildren(...answered(answer));
    else if (error) place.replaceChildren(el('p', { class: 'error', dir: 'auto' }, error));
    else {
      if (!place.querySelector('.progress')) place.replaceChildren(progress(exchange.id));
      const [line] = place.children;
      line.querySelector('strong').textContent = STAGES[stage] ?? 'Beginning';
      line.querySelector('bdi').textContent = detail;
      const count = [found ? `${found} recalled` : '', rounds > 1 ? `round ${rounds}` : ''];
      line.querySelector('.small').textContent = count.filter(Boolean).join(', ');
    }
  }

  function progress(id) {
    const cancel = () => attempt(() => page.api.del(`/api/exchanges/${encodeURIComponent(id)}`));
    return el('div', { class: 'progress' }, el('span', { class: 'spinner' }),
      el('span', {}, el('strong', {}), ' ', el('bdi', {}), el('span', { class: 'small muted' })),
      page.may('ask') ? button('close', 'Cancel', cancel, { class: 'quiet' }) : null);
  }

  function answered(answer) {
    const { position, confidence, planner, latency_sec: took, llm_calls: calls } = answer;
    const tokens = answer.prompt_tokens + answer.completion_tokens;
    const evidence = answer.evidence.slice(0, MOST);
    const cards = el('ol', { class: 'cards', 'aria-label': 'Evidence' });
    const showSome = (most) => showCards(cards, evidence.slice(0, most), page);
    showSome(EVIDENCE);
    const rest = evidence.length > EVIDENCE ? button(null, `Show all ${evidence.length} memories`, () => {
      showSome(MOST);
      rest.remove();
    }, { class: 'quiet' }) : null;
    const there = position && evidence.find((hit) => String(hit.position) === String(position));
    const target = there ? { memory_id: there.id }
      : position && { position: position.slice(0, 2), yaw: answer.yaw ?? 0, map: evidence[0]?.map };
    return [
      headline(answer), clamped(answer.text, ANSWER),
      el('div', { class: 'row' },
        target && goButton(page, target),
        evidence.length ? button('map', 'Show on map', () => showOnMap(page, evidence), { class: 'chip' })
          : null),
      evidence.length ? el('h2', {}, 'Based on') : null, cards, rest,
      el('p', { class: 'small muted' },
        el('span', { title: `confidence ${confidence.toFixed(2)}` },
          SURE.find(([least]) => confidence >= least)[1]),
        ` · ${planner} · ${took.toFixed(2)} s`,
        calls ? ` · ${calls} ${calls === 1 ? 'call' : 'calls'}, ${tokens.toLocaleString('en')} tokens` : ''),
    ].filter(Boolean);
  }

  async function load() {
    const told = await attempt(() => page.api.get('/api/exchanges'));
    if (!told) return;
    for (const exchange of told.exchanges) take(exchange);
    const known = new Set(told.exchanges.map(({ id }) => id));
    for (const one of [...exchanges.values()]) { // of before the server was started anew
      if (!known.has(one.id) && !one.answer && !one.error) take(
        { ...one, error: 'The server knows no more of this question.', lost: true });
    }
    show();
  }

  page.url.onChange(showScope);
  page.url.onChange((now, before) => now.view !== before.view && toEnd());
  page.on('exchange', take);
  page.on('back', load);
  load();
  showScope();
}
