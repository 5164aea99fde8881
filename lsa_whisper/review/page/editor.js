// The chosen utterance: its words to select, its text to type, and what is wrong with the text.
import { state, onChange, current, chooseWords, clock, tr } from "./state.js";
import { act, edit } from "./server.js";
import { element, pieces, doubtClass } from "./row.js";
import { onTick, playWords } from "./player.js";
const at = (id) => document.getElementById(id);
const text = at("text"), comment = at("comment"), words = at("words"), problems = at("problems"), proposal = at("proposal");
const WAIT_MS = 250;
// ``held``: another window changed the transcript while this text was typed. It must not be saved over that change.
// ``newest``: what was typed last, and where; several texts of one utterance can be on their way to the server.
let timer = 0, typing = false, shown = -1, dirty = false, held = false, newest = {}, sent = null, noted = null, noteTimer = 0, noting = false;
export function show() {
  const each = current();
  if (!each) return;
  const waiting = state.pending[state.at];
  if (shown !== state.at && dirty) flush();
  if (document.activeElement !== text || shown !== state.at) {
    if (text.value !== (waiting ?? each.text)) text.value = waiting ?? each.text;
    typing = false; dirty = false;
    problems.textContent = ""; proposal.hidden = true;
    if (waiting !== undefined) check(waiting, state.at, tr("This text is not saved."));
  }
  shown = state.at;
  if (document.activeElement !== comment) comment.value = each.comment;
  at("place").textContent = tr("{0} of {1}", state.at + 1, state.utterances.length);
  at("time").textContent = each.start_ms === null ? tr("no time") : tr("{0} to {1}", clock(each.start_ms), clock(each.end_ms));
  at("readable").textContent = each.readable;
  at("reviewed").checked = each.reviewed;
  const speaker = at("speaker");
  speaker.replaceChildren(...Object.entries(state.participants).map(([code, each]) => element("option", { text: `${code} ${each.role}`, value: code })));
  speaker.value = each.speaker;
  showWords();
}
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
export async function flush() {
  clearTimeout(timer); timer = 0;
  if (!dirty || held) return;
  dirty = false;
  const number = shown, value = text.value, joins = typing;
  typing = true;
  sent = value;
  const found = await edit({ action: "text", number, text: value, joins, typing: true }, { quiet: true });
  if (sent === value) sent = null;
  if (found.conflict) {
    held = shown === number && document.activeElement === text;
    if (!held) release(number, newest.number === number ? newest.text : value);
    return;
  }
  if (!found.error) { delete state.pending[number]; if (shown === number && text.value === value) showProblems(found, ""); return; }
  typing = joins;
  state.pending[number] = value;
  if (found.revision !== undefined) state.revision = found.revision;
  if (shown === number && text.value === value) showProblems(found, found.error);
}
function release(number, value) {
  if (shown === number) held = dirty = typing = false;
  if (value !== state.utterances[number]?.text) state.pending[number] = value;
  show();
}
async function check(value, number, error = "") {
  const found = await act({ action: "check", number, text: value }, { quiet: true });
  if (shown === number && text.value === value) showProblems(found, error);
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
  typed();
  flush();
}
proposal.addEventListener("click", takeProposal);
function typed() {
  dirty = true;
  newest = { number: shown, text: text.value };
}
text.addEventListener("input", () => {
  typed();
  proposal.hidden = true;  // it was for the text before this key, and would undo what is typed
  if (!timer) timer = setTimeout(flush, WAIT_MS);  // not put off by further keys: a crash must cost no more than this
});
text.addEventListener("blur", () => (held ? release(shown, text.value) : flush()));
async function note() {
  clearTimeout(noteTimer); noteTimer = 0;
  if (noted === null) return;
  const value = noted, joins = noting;
  noting = true;
  await edit({ action: "comment", number: shown, text: value, joins });
  if (noted === value) noted = null;
}
comment.addEventListener("input", () => { noted = comment.value; if (!noteTimer) noteTimer = setTimeout(note, WAIT_MS); });
comment.addEventListener("change", async () => { noted = comment.value; await note(); noting = false; });
// What the server does not have yet when the page is left or loaded again goes as a draft; ``before`` is what it may replace.
function leave(field, value) {
  const draft = { action: "draft", file: state.file, number: shown, field, text: value, before: [state.utterances[shown].text, sent ?? ""] };
  navigator.sendBeacon("action", new Blob([JSON.stringify(draft)], { type: "application/json" }));
}
addEventListener("pagehide", () => {
  if (dirty || sent !== null) leave("text", text.value);
  if (noted !== null) leave("comment", noted);
});
at("speaker").addEventListener("change", (event) => edit({ action: "speaker", number: state.at, speaker: event.target.value }));
at("reviewed").addEventListener("change", async (event) => { await edit({ action: "reviewed", number: state.at, reviewed: event.target.checked }); show(); });
onChange((what) => { if (what === "words") showWords(); else if (what !== "progress" && what !== "filter") show(); });
onTick((now) => {
  const each = current();
  [...words.querySelectorAll("[data-word]")].forEach((made) => {
    const word = each?.words[Number(made.dataset.word)];
    made.classList.toggle("playing", Boolean(word && word[3] !== null && now >= word[3] && now < word[4]));
  });
});
