// The bar of a drive, in every view: a goal that waits for a yes, how far it is, and stop.

import { attempt } from './acts.js';
import { placeName } from './cards.js';
import { announce, busy, el, icon } from './dom.js';

const ENDS = { arrived: 'The robot has arrived', failed: 'The drive failed', stopped: 'The drive has ended' };
const ENDED_MS = 15_000; // [ms] that the end of a drive stays

/** Fill root with the drive, and hide it while there is none. */
export function mountDrive(root, page) {
  let seen = null; // the drive that was under way while this page looked on
  let farthest = 0; // [m]
  let goal = null;
  let timer = 0;

  const act = (path, body, label, drawing, kind) => el('button', {
    type: 'button', class: kind, onclick: (event) => busy(event.currentTarget, attempt(() => page.api.post(path, body))),
  }, icon(drawing), label);
  const words = el('strong', {});
  const detail = el('span', { class: 'muted', dir: 'auto' });
  const bar = el('progress', { 'aria-label': 'Way driven', max: 1 });
  const where = el('button', { type: 'button', class: 'quiet', onclick: () => page.map.goTo(...goal.position.slice(0, 2)) },
    icon('place'), 'Where');
  const yes = act('/api/confirm', { yes: true }, 'Drive', 'go', 'primary');
  const no = act('/api/confirm', { yes: false }, 'No', 'close', '');
  const stop = act('/api/stop', {}, 'Stop', 'stop', 'danger');
  const close = el('button', { type: 'button', class: 'quiet', 'aria-label': 'Close', onclick: () => end() }, icon('close'));
  root.append(el('div', { class: 'drive-says' }, words, detail, bar), el('div', { class: 'row' }, where, yes, no, stop, close));

  function end() {
    clearTimeout(timer);
    timer = 0;
    seen = null;
    root.hidden = true;
  }

  function say(text, more = '') {
    if (words.textContent !== text) announce(`${text}. ${more}`);
    words.textContent = text;
    detail.textContent = more;
  }

  function show({ proposal, drive }) {
    const waits = proposal.length > 0;
    const going = !waits && ['checking', 'confirming', 'navigating'].includes(drive?.stage);
    const ended = !waits && !going && drive && seen === drive.id;
    const may = page.may('drive');
    if (going) seen = drive.id;
    goal = waits ? proposal[0] : drive?.goal ?? null;
    root.hidden = !(waits || going || ended);
    root.dataset.stage = waits ? 'confirming' : drive?.stage ?? '';
    where.hidden = !goal;
    yes.hidden = no.hidden = !(waits && may);
    stop.hidden = !(going && may);
    close.hidden = !ended;
    bar.hidden = !(going && Number.isFinite(drive.distance));
    if (waits) {
      if (drive) seen = drive.id;
      farthest = 0;
      const others = proposal.length > 1 ? `, then ${proposal.slice(1).map(({ position }) => placeName(position)).join(', ')}` : '';
      say(`Drive to ${placeName(goal.position)}${others}?`,
        may ? drive && drive.asker !== 'local' ? `Asked for by ${drive.asker}` : '' : 'It needs a yes of somebody with an act token.');
    } else if (going) {
      farthest = Math.max(farthest, drive.distance ?? 0);
      bar.value = farthest ? 1 - (drive.distance ?? farthest) / farthest : 0;
      const far = Number.isFinite(drive.distance) ? `${drive.distance.toFixed(1)} m to go` : drive.detail;
      say(drive.stage === 'navigating' ? `Driving${goal ? ` to ${placeName(goal.position)}` : ''}` : 'Looking whether the robot can go there', far);
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
