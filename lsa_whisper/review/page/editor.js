// The chosen utterance: its words to select, its text to type, and what is wrong with the text.
import { state, anchors, typed, waiting, unsaved, onChange, current, chooseWords, clock, tr } from "./state.js";
import { act, edit, keep, say } from "./server.js";
import { element, pieces, doubtClass } from "./row.js";
import { onTick, playWords } from "./player.js";
const at = (id) => document.getElementById(id);
const text = at("text"), comment = at("comment"), words = at("words"), problems = at("problems"), proposal = at("proposal");
const WAIT_MS = 250;
// ``field``: the utterance that is shown here, wherever answers move it. ``held``: it was changed while its text was typed, which
// must not be saved over that change. ``joins``, ``noting``: what is typed next is one step with what was typed before.
const field = { number: -1, file: -1 };
let timer = 0, joins = false, dirty = false, held = false, noted = null, noteTimer = 0, noting = false;
anchors.add(field);
export function show() {
  const each = current();
  if (!each) return;
  const other = field.number !== state.at || field.file !== state.file;
  if (other) { leave(); note(); noting = false; }
  const late = unsaved("text", state.at), kept = late?.text ?? state.pending[state.at];
  if (other || document.activeElement !== text || (field.stale && !dirty && !held && !late)) {
    if (text.value !== (kept ?? each.text)) text.value = kept ?? each.text;
    joins = false; dirty = false;
    problems.textContent = late ? tr("This text is not saved.") : ""; proposal.hidden = true;
    if (kept !== undefined && !late) check(kept, state.at, tr("This text is not saved."));
  } else if (field.stale) held = true;
  const said = unsaved("comment", state.at)?.text ?? each.comment;
  if (other || document.activeElement !== comment || bare(said) !== bare(comment.value)) comment.value = said;
  Object.assign(field, { number: state.at, file: state.file, stale: false });
  at("place").textContent = tr("{0} of {1}", state.at + 1, state.utterances.length);
  at("time").textContent = each.start_ms === null ? tr("no time") : tr("{0} to {1}", clock(each.start_ms), clock(each.end_ms));
  at("readable").textContent = each.readable;
  at("reviewed").checked = each.reviewed;
  const speaker = at("speaker");
  speaker.replaceChildren(...Object.entries(state.participants).map(([code, each]) => element("option", { text: `${code} ${each.role}`, value: code })));
  speaker.value = each.speaker;
  showWords();
}
const bare = (said) => said.replace(/\s+/g, " ").trim();
function showWords() {
  const low = Math.min(state.first, state.last), high = Math.max(state.first, state.last);
  words.replaceChildren(...pieces(current()).filter((piece) => piece.text.trim()).map((piece) => {
    const chosen = piece.word >= low && piece.word <= high && piece.word >= 0;
    const made = element("span", { text: piece.text.trim(), cls: `${doubtClass(piece.confidence)} ${chosen ? "chosen" : ""}` });
    if (piece.word >= 0) made.dataset.word = piece.word;
    if (piece.confidence !== null) made.title = tr("confidence {0}", piece.confidence.toFixed(2));
    return made;
  }));
}
words.addEventListener("click", (event) => {
  const word = event.target.dataset.word;
  if (word !== undefined) chooseWords(event.shiftKey ? state.first : Number(word), Number(word));
});
words.addEventListener("dblclick", () => playWords());
// What a field may replace: what the page was told, and what is on its way there.
function before(action, number) {
  return [state.utterances[number]?.[action], ...waiting(action, number).map((each) => each.text)];
}
function asTyped(action, value, more) { return { action, number: field.number, file: field.file, text: value, before: before(action, field.number), ...more }; }
async function flush() {
  clearTimeout(timer); timer = 0;
  if (!dirty || held) return;
  dirty = false;
  const body = asTyped("text", text.value, { joins, typing: true });
  typed.add(body);
  joins = true;
  const found = await edit(body, { quiet: true });
  const here = field.number === body.number && field.file === body.file;
  if (found.conflict) {
    held = here && document.activeElement === text && state.utterances[body.number]?.text !== body.text;
    await keep(body);
    if (!held) show();
    return;
  }
  if (!found.error) delete state.pending[body.number];
  else { if (here) joins = body.joins; state.pending[body.number] = body.text; }
  if (here && text.value === body.text) showProblems(found, found.error ?? "");
}
// The text field is left: its text is saved, or kept beside what was changed meanwhile.
function leave() {
  if (!held) { flush(); return; }
  held = dirty = joins = false;
  keep(asTyped("text", text.value)).then(show);
}
async function check(value, number, error = "") {
  const body = { action: "check", number, text: value }, found = await act(body, { quiet: true });
  if (field.number === body.number && text.value === value) showProblems(found, state.pending[body.number] === value ? error : "");
}
function showProblems(found, error) {
  const first = found.problems?.[0];
  problems.textContent = first ? tr("character {0}: {1}", first.column, first.message) : error;
  proposal.hidden = !found.proposal;
  proposal.textContent = found.proposal ? tr("Proposal (Alt+Enter): {0}", found.proposal) : "";
  proposal.dataset.text = found.proposal ?? "";
}
export function takeProposal() {
  if (proposal.hidden) return;
  text.value = proposal.dataset.text;
  dirty = true;
  flush();
}
proposal.addEventListener("click", takeProposal);
text.addEventListener("input", () => {
  dirty = true;
  proposal.hidden = true;  // it was for the text before this key, and would undo what is typed
  if (!timer) timer = setTimeout(flush, WAIT_MS);  // not put off by further keys: a crash must cost no more than this
});
text.addEventListener("blur", leave);
async function note() {
  clearTimeout(noteTimer); noteTimer = 0;
  if (!noted) return;
  const body = Object.assign(noted, { joins: noting });
  noted = null;
  noting = true;
  await remark(body);
}
async function remark(body) {
  for (let found = { conflict: true }; found.conflict && typed.has(body);) {
    if (body.lost) { typed.delete(body); say(tr("The utterance of this comment was deleted: {0}", body.text)); return; }
    if (state.foreign) { body.met = true; return; }  // until a version is chosen
    Object.assign(body, { met: false, gone: false, stale: false });
    const now = state.utterances[body.number].comment;
    if (now && !body.before.includes(now)) {  // from another window: both are kept
      const shown = bare(comment.value) === body.text;
      body.text = [now, body.text].filter(Boolean).join("; ");
      if (shown && field.number === body.number) comment.value = body.text;
    }
    body.before.push(now);
    found = await edit(body);
    if (!found.error) waiting("comment", body.number).forEach((each) => each.before.push(state.utterances[body.number].comment));
    if (unsaved("comment", body.number) !== body) typed.delete(body);  // what was typed after it has it all
  }
}
comment.addEventListener("input", () => {
  noted ??= asTyped("comment", "");
  noted.text = bare(comment.value);
  typed.add(noted);
  if (!noteTimer) noteTimer = setTimeout(note, WAIT_MS);
});
comment.addEventListener("change", async () => { await note(); noting = false; });
// What the server does not have yet when the page is left or loaded again goes as a draft; ``before`` is what it may replace.
function draft({ file, number, action, text, before: noted, met, stale }) {
  const replaced = action === "text" && (met || stale) ? [] : before("text", number);
  const body = { action: "draft", file, number, field: action, text, before: replaced, noted };
  navigator.sendBeacon("action", new Blob([JSON.stringify(body)], { type: "application/json" }));
}
// A comment that waits for a version has no place on the disk yet, so the browser asks whether to leave.
addEventListener("beforeunload", (event) => { if (state.foreign && [...typed].some((each) => each.action === "comment")) event.preventDefault(); });
addEventListener("pagehide", () => {
  if (dirty || held) typed.add(asTyped("text", text.value, { met: held }));
  const newest = new Map([...typed].map((each) => [`${each.action} ${each.file} ${each.number}`, each]));
  newest.forEach(draft);
});
at("speaker").addEventListener("change", (event) => edit({ action: "speaker", number: state.at, speaker: event.target.value }));
at("reviewed").addEventListener("change", async (event) => { await edit({ action: "reviewed", number: state.at, reviewed: event.target.checked }); show(); });
onChange((what) => { if (what === "resolved") [...typed].filter((each) => each.met && each.action === "comment" && each.file === state.file).forEach(remark); });
onChange((what) => { if (what === "words") showWords(); else if (what !== "progress" && what !== "filter") show(); });
onTick((now) => {
  const each = current();
  [...words.querySelectorAll("[data-word]")].forEach((made) => {
    const word = each?.words[Number(made.dataset.word)];
    made.classList.toggle("playing", Boolean(word && word[3] !== null && now >= word[3] && now < word[4]));
  });
});
