// Requests to the server, one after another: each edit names the revision that it was made for.
import { state, anchors, typed, load, splice, update, changed, tr } from "./state.js";
const message = document.getElementById("message"), saving = document.getElementById("saving");
// ``conflicts``: an edit that was asked for before another one met a conflict was made for other utterances, and is not sent.
let last = Promise.resolve(), open = 0, conflicts = 0, busy = false;
const later = [];
// What a key or a button does waits for the answers that those before it asked for: it means the same, however slow they are.
export async function inTurn(run) {
  later.push(run);
  if (busy) return;
  busy = true;
  open += 1;
  while (later.length) try { await later.shift()(); } catch (error) { reportError(error); }
  busy = false;
  close();
}
function close() {
  open -= 1;
  if (!open && saving.textContent) saving.textContent = tr("saved");
}
export function isBusy() { return busy; }
export function say(text) { message.textContent = text; message.hidden = !text; }
async function ask(...asked) {
  for (;;) {
    try {
      return await fetch(...asked);
    } catch {
      saving.textContent = tr("The server does not answer, and nothing is saved. Start it again, and copy what you typed to its new page.");
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}
export async function get(path) {
  const answer = await ask(path);
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error ?? tr("the request was refused"));
  return found;
}
async function send(body, quiet) {
  if (!body.transcribe) body.revision = state.revision;
  const answer = await ask("action", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const found = await answer.json().catch(() => ({}));
  if (answer.ok) {
    if (typed.has(body)) forget(body);
    state.revision = found.revision ?? state.revision;
    if (found.added) { say(""); splice({ ...found, typing: body.typing }); }
    return found;
  }
  if (found.conflict) { await reload(found.error); conflicts += 1; }
  else if (!quiet) say(found.error ?? tr("the request was refused"));
  return { error: found.error ?? tr("the request was refused"), conflict: found.conflict };
}
// Wait until all is answered, and what follows from the answers is asked for and answered, too.
export async function answered() {
  for (let seen = null; seen !== last;) { seen = last; await seen; await new Promise((done) => setTimeout(done)); }
}
export function act(body, { quiet = false, edits = false } = {}) {
  const met = conflicts;
  body.file = state.file;
  anchors.add(body);
  open += 1;
  saving.textContent = tr("saving");
  const late = () => edits && (conflicts !== met || body.gone || (body.stale && body.action === "text"));
  const turn = last.then(() => (late() ? { conflict: true, error: tr("the request was refused") } : send(body, quiet)));
  last = turn.catch(() => {}).then(() => { anchors.delete(body); close(); });
  return turn;
}
export function edit(body, options) { return act(body, { ...options, edits: true }); }
export async function reload(text = "") {
  const found = await get(`transcript?file=${state.file}`);
  load(found, { again: true });
  state.foreign = found.foreign;
  document.getElementById("conflict").hidden = !found.foreign;
  say(text || found.remark);
  changed("list");
}
// The server has what was typed last; what was typed before it is needed no more.
function forget(body) {
  for (const each of [...typed]) {
    if (each.action === body.action && each.number === body.number && each.file === body.file) typed.delete(each);
    if (each === body) return;
  }
}
// A text that met a conflict is not saved over what is there now; the server keeps it beside.
export async function keep(body) {
  typed.add(body);
  body.met = true;
  body.number = Math.min(body.number, state.utterances.length - 1);
  const request = { action: "pending", number: body.number, text: body.text };
  const found = state.utterances[body.number]?.text === body.text ? {} : await act(request, { quiet: true });
  if (found.conflict && !state.foreign) { await keep(body); return; }
  if (found.error) return;  // until a version is chosen
  if (found.revision !== undefined) state.pending[body.number] = body.text;
  forget(body);
}
export async function resolve(action) {
  const found = await act({ action });
  if (!found.utterances) return;
  const before = Object.entries(state.pending), place = load(found, { again: true });
  state.foreign = false;
  for (const [n, text] of before) {
    const number = place(Number(n));
    if (state.pending[number] !== text) keep({ action: "text", file: state.file, number, text });
  }
  for (const each of [...typed]) if (each.met && each.action === "text" && each.file === state.file) keep(each);
  document.getElementById("conflict").hidden = true; say(""); changed("list"); changed("resolved");
}
export async function sendActivity(seconds) {
  const found = await act({ action: "activity", seconds }, { quiet: true });
  if (found.progress) { update(found); changed("progress"); }
}
