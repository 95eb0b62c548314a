// The bar of a drive, in every view: a goal that waits for a yes, how far it is, and stop.

import { attempt, showPlace } from './acts.js';
import { placeName } from './cards.js';
import { announce, button, el, toast } from './dom.js';

const BEFORE = { checking: 'Looking whether the robot can go there',
  confirming: 'The robot waits for a yes' };
const ENDS = { arrived: 'The robot has arrived', sent: 'The robot was sent there',
  failed: 'The drive failed', stopped: 'The drive has ended' };
const ENDED_MS = 15_000; // [ms] that the end of a drive stays

/** Fill root with the drive, and hide it while there is none. */
export function mountDrive(root, page) {
  let seen = null; // the drive that was under way while this page looked on
  let driven = null; // the drive of which that is
  let farthest = 0; // [m]
  let goal = null;
  let shown = ''; // id of the goals that are shown as waiting
  let timer;

  const act = (path, body, label, drawing, kind) => button(drawing, label, async () => {
    const done = await attempt(() => page.api.post(path, body()));
    if (done?.detail) toast(done.detail);
  }, { class: kind });
  const words = el('strong', {});
  const detail = el('span', { class: 'muted', dir: 'auto' });
  const bar = el('progress', { 'aria-label': 'Way driven', max: 1 });
  const where = button('place', 'Where', () => showPlace(page, goal.position), { class: 'quiet' });
  const yes = act('/api/confirm', () => ({ yes: true, proposal: shown }), 'Drive', 'go', 'primary');
  const no = act('/api/confirm', () => ({ yes: false, proposal: shown }), 'No', 'close', '');
  const stop = act('/api/stop', () => ({}), 'Stop', 'stop', 'danger');
  root.append(el('div', { class: 'drive-says' }, words, detail, bar),
    el('div', { class: 'row' }, where, yes, no, stop));

  function end() {
    seen = null;
    root.hidden = true;
  }

  function say(text, more = '') {
    if (words.textContent !== text) announce(`${text}. ${more}`);
    words.textContent = text;
    detail.textContent = more;
  }

  function show({ proposal, proposal_id, drive }) {
    const waits = proposal.length > 0;
    const live = drive && !(drive.stage in ENDS);
    const going = live && !waits;
    const ended = drive && !live && !waits && seen === drive.id;
    const may = page.may('drive');
    if (live) seen = drive.id;
    if (!ended) timer = clearTimeout(timer);
    goal = waits ? proposal[0] : drive?.goal ?? null;
    shown = proposal_id;
    root.hidden = !(waits || going || ended);
    root.dataset.stage = waits ? 'confirming' : drive?.stage ?? '';
    where.hidden = !goal;
    yes.hidden = no.hidden = !(waits && may);
    stop.hidden = !(may && (going || drive?.stage === 'navigating'));
    bar.hidden = !(going && Number.isFinite(drive.distance));
    if (waits) {
      const others = proposal.slice(1).map(({ position }) => `, then ${placeName(position)}`).join('');
      say(`Drive to ${placeName(goal.position)}${others}?`,
        !may ? 'It needs a yes of somebody with an act token.'
        : live && drive.asker !== 'local' ? `Asked for by ${drive.asker}` : '');
    } else if (going) {
      farthest = Math.max(driven === drive.id ? farthest : 0, drive.distance ?? 0);
      driven = drive.id;
      bar.value = farthest ? 1 - (drive.distance ?? farthest) / farthest : 0;
      const far = Number.isFinite(drive.distance) ? `${drive.distance.toFixed(1)} m to go` : drive.detail;
      say(BEFORE[drive.stage] ?? `Driving${goal ? ` to ${placeName(goal.position)}` : ''}`, far);
    } else if (ended) {
      say(ENDS[drive.stage] ?? drive.stage, drive.detail);
      timer ||= setTimeout(end, ENDED_MS);
    }
  }

  const load = () => page.api.get('/api/situation').then(show, () => {});
  page.on('situation', show);
  page.on('back', load);
  load();
}
