// Questions by voice, where the browser allows it: a page over HTTPS or on localhost.

import { attempt } from './acts.js';
import { busy, el, icon, toast } from './dom.js';

const LONGEST_MS = 30_000; // [ms] of a question
const HOLD_MS = 400; // [ms] a press that lasts longer ends when the button is let go
const REFUSED = {
  NotAllowedError: 'The browser does not let this page hear the microphone. Allow it beside the address.',
  NotFoundError: 'There is no microphone.',
  NotReadableError: 'Another program has the microphone.',
};

/** Return a button that gives onText(words) what was said; null where that cannot be. */
export function microphone(page, onText) {
  if (!page.may('listen') || !isSecureContext || !navigator.mediaDevices
    || !window.MediaRecorder) return null;
  let recorder = null;
  let opening = false;
  let began = 0;

  async function begin() {
    let sound;
    opening = true;
    try {
      sound = await navigator.mediaDevices.getUserMedia({ audio: true });
    } catch (error) {
      return toast(REFUSED[error.name] ?? `The microphone does not work: ${error.message}`);
    } finally {
      opening = false;
    }
    const pieces = [];
    recorder = new MediaRecorder(sound);
    const timer = setTimeout(end, LONGEST_MS);
    recorder.ondataavailable = ({ data }) => pieces.push(data);
    recorder.onstop = async () => {
      clearTimeout(timer);
      for (const track of sound.getTracks()) track.stop();
      const blob = new Blob(pieces, { type: recorder.mimeType });
      recorder = null;
      show();
      const heard = await busy(button, attempt(() => page.api.post('/api/speech', blob)));
      if (heard?.text) onText(heard.text);
      else if (heard) toast('Nothing was understood. Speak nearer to the microphone.');
    };
    recorder.start();
    show();
  }

  const end = () => recorder?.state === 'recording' && recorder.stop();
  function show() {
    button.setAttribute('aria-pressed', Boolean(recorder));
    button.setAttribute('aria-label', recorder ? 'Stop listening' : 'Ask by voice');
  }
  const button = el('button', {
    type: 'button', class: 'mic quiet',
    onpointerdown: () => {
      if (recorder || opening) return;
      began = performance.now();
      begin();
    },
    // detail 0: by a key. A press that was held ends here, a tap goes on until the next
    onclick: ({ detail }) => {
      if (detail ? performance.now() - began > HOLD_MS : recorder) end();
      else if (!detail && !opening) begin();
    },
  }, icon('mic'));
  show();
  return button;
}
