// Requests to the server, one after another: each edit names the revision that it was made for.
import { state, load, splice, update, changed, tr } from "./state.js";
const message = document.getElementById("message"), saving = document.getElementById("saving");
// ``conflicts``: an edit that was asked for before another one met a conflict was made for other utterances, and is not sent.
let last = Promise.resolve(), open = 0, conflicts = 0;
export function say(text) { message.textContent = text; message.hidden = !text; }
export async function get(path) {
  const answer = await fetch(path);
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error ?? tr("the request was refused"));
  return found;
}
async function post(body) {
  for (;;) {
    try {
      return await fetch("action", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    } catch {
      saving.textContent = tr("The server does not answer, and nothing is saved. Start it again, and copy what you typed to its new page.");
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}
async function send(body, quiet) {
  if (!body.transcribe) Object.assign(body, { file: state.file, revision: state.revision });
  const answer = await post(body), found = await answer.json().catch(() => ({}));
  if (answer.ok) return found;
  if (found.conflict) { await reload(found.error); conflicts += 1; }
  else if (!quiet) say(found.error ?? tr("the request was refused"));
  return { error: found.error ?? tr("the request was refused"), conflict: found.conflict };
}
export function act(body, { quiet = false, edits = false } = {}) {
  open += 1;
  saving.textContent = tr("saving");
  const met = conflicts, turn = last.then(() => (edits && conflicts !== met ? { conflict: true, error: tr("the request was refused") } : send(body, quiet)));
  last = turn.catch(() => {}).then(() => { open -= 1; if (!open) saving.textContent = tr("saved"); });
  return turn;
}
export async function edit(body, options) {
  const found = await act(body, { ...options, edits: true });
  if (found.added) { say(""); splice(found); }
  return found;
}
export async function reload(text = "") {
  const found = await get(`transcript?file=${state.file}`);
  load(found);
  document.getElementById("conflict").hidden = !found.foreign;
  say(text || found.remark);
  changed("list");
}
export async function resolve(action) {
  const found = await act({ action });
  if (!found.utterances) return;
  const before = state.utterances, typed = Object.entries(state.pending);  // with what came in before the answer
  load(found);
  for (const [number, text] of typed) {  // what was typed meanwhile stays at its utterance, to be saved or not
    const same = state.utterances.findIndex((each) => each.start_ms !== null && each.start_ms === before[number]?.start_ms);
    const place = same < 0 ? Number(number) : same;
    state.pending[place] = text;
    act({ action: "pending", number: place, text }, { quiet: true }).then((kept) => { state.revision = kept.revision ?? state.revision; });
  }
  document.getElementById("conflict").hidden = true; say(""); changed("list");
}
export async function sendActivity(seconds) {
  const found = await act({ action: "activity", seconds }, { quiet: true });
  if (found.progress) { update(found); changed("progress"); }
}
