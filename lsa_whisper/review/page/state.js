// What the page knows: the open transcript, the chosen utterance and words. Other modules listen to its changes.
// Texts in the language of the page: the server gives the translations, if there are any.
const given = document.getElementById("texts"), translations = given ? JSON.parse(given.textContent) : {};
export function decimal(value) { return given && /^-?\d+\.\d+$/.test(value) ? String(value).replace(".", ",") : value; }
export function tr(text, ...values) { return (translations[text] ?? text).replace(/\{(\d)\}/g, (_, place) => decimal(values[place])); }
export const state = { file: 0, revision: 0, name: "", utterances: [], participants: {}, shown: [], at: 0, first: 0, last: 0, progress: {}, pending: {}, duration: 0, sounds: [], sound: 0, missed: [], settings: { keys: {}, back_s: 2, rewind_s: 0.5, play_next: false } };
const listeners = [];
export function onChange(listener) { listeners.push(listener); }
export function changed(what) { for (const listener of listeners) listener(what); }
// Where something is typed, which belongs to the utterance that was chosen when typing began.
export function isTyping() { return document.activeElement.matches("#text, #comment"); }
export function current() { return state.utterances[state.at]; }
export function choose(at, { keep = false } = {}) {
  if (!state.utterances.length) return;
  state.at = Math.max(0, Math.min(at, state.utterances.length - 1));
  if (!keep) state.first = state.last = 0;
  changed("choice");
}
export function chooseWords(first, last) {
  const top = Math.max(0, (current()?.words.length ?? 1) - 1);
  state.first = Math.max(0, Math.min(first, top));
  state.last = Math.max(0, Math.min(last, top));
  changed("words");
}
// What names an utterance of a ``file`` by its ``number`` and outlives an answer follows its utterance; it is ``stale`` when that
// has got another text, ``gone`` when others came in its place, and ``lost`` when it was deleted.
export const anchors = new Set();
// Texts and comments that were typed and that the server does not have yet, the oldest first.
export const typed = new Set();
export function waiting(action, number) { return [...typed].filter((each) => each.action === action && each.number === number && each.file === state.file); }
export function unsaved(action, number) { return waiting(action, number).at(-1); }
function follow(at, removed, added, typing) {
  const moved = added.length - removed.length, end = at + removed.length;
  const place = (n) => {
    if (n < at || (n < end && !moved)) return n;
    if (n >= end) return n + moved;
    const same = added.findIndex((each) => each.start_ms !== null && each.start_ms === removed[n - at].start_ms);
    return at + Math.max(0, same);
  };
  for (const each of new Set([...anchors, ...typed])) {
    if (each.file !== state.file || each.number === undefined) continue;
    if (each.number >= at && each.number < end) {
      each.gone ||= moved !== 0; each.lost ||= !added.length;
      each.stale ||= moved !== 0 || (!typing && removed[each.number - at].text !== added[each.number - at].text);
    }
    each.number = place(each.number);
  }
  return place;
}
// A transcript that is loaded again is one that changed between its first and its last difference.
function reloaded(before, after) {
  const same = (a, b) => a.text === b.text && a.speaker === b.speaker && a.start_ms === b.start_ms;
  const shorter = Math.min(before.length, after.length);
  let first = 0, rest = 0;
  while (first < shorter && same(before[first], after[first])) first += 1;
  while (rest < shorter - first && same(before.at(-1 - rest), after.at(-1 - rest))) rest += 1;
  return follow(first, before.slice(first, before.length - rest), after.slice(first, after.length - rest));
}
export function load(found, { again = false } = {}) {
  const place = again ? reloaded(state.utterances, found.utterances) : (n) => n;
  Object.assign(state, { name: found.name, utterances: found.utterances, participants: found.participants, pending: found.pending, missed: found.missed, flagBelow: found.flag_below });
  update(found);
  state.at = Math.max(0, Math.min(place(state.at), state.utterances.length - 1));
  return place;
}
export function update(found) {
  state.revision = found.revision; state.progress = found.progress; state.draft = found.draft;
  state.canUndo = found.can_undo; state.canRedo = found.can_redo;
}
export function splice(found) {
  const place = follow(found.at, state.utterances.splice(found.at, found.removed, ...found.added), found.added, found.typing);
  const moved = found.added.length !== found.removed, end = found.at + found.removed;  // as the server does with unsaved text
  const stays = Object.entries(state.pending).filter(([n]) => !moved || n < found.at || n >= end);
  state.pending = Object.fromEntries(stays.map(([n, text]) => [place(Number(n)), text]));
  if (found.participants) state.participants = found.participants;
  update(found);
  const before = found.removed || found.at !== state.at || isTyping();  // else what an undo brings back is shown
  state.at = Math.max(0, Math.min(before ? place(state.at) : state.at, state.utterances.length - 1));
  changed(found.removed === found.added.length && !found.participants ? "text" : "list");
}
export function doubt(utterance) {
  if (utterance.expected === null) return utterance.reviewed ? 0 : 1;
  const seconds = utterance.start_ms === null ? 3 : (utterance.end_ms - utterance.start_ms) / 1000;
  return utterance.reviewed ? 0 : utterance.expected / (seconds + 1);
}
export function clock(ms) {
  if (ms === null || ms === undefined) return "";
  const s = Math.floor(ms / 1000), two = (n) => String(n).padStart(2, "0");
  return `${s >= 3600 ? `${Math.floor(s / 3600)}:` : ""}${two(Math.floor(s / 60) % 60)}:${decimal(`${two(s % 60)}.${Math.floor(ms / 100) % 10}`)}`;
}
