// Keys that work inside the text, too: the user chooses them, and a foot pedal may send them. They also put marks at the cursor.
import { state, current, chooseWords } from "./state.js";
import { edit } from "./server.js";
import { step } from "./list.js";
import { toggle, skip, playUtterance, toggleLoop, changeSpeed, isPlaying, position, stop } from "./player.js";
const text = document.getElementById("text"), bound = new Map();
const RUN = {
  play: toggle, back: () => skip(-state.settings.back_s), forward: () => skip(state.settings.back_s),
  next: () => turn(1), previous: () => turn(-1), again: () => { stop(); playUtterance(); },
  loop: toggleLoop, slower: () => changeSpeed(-1), faster: () => changeSpeed(1),
};
// Where a layout has letters of another script (Cyrillic, Greek, Hebrew, ...), a key means what a Latin one has in its place.
const SIGNS = { BracketLeft: "[{", BracketRight: "]}", Comma: ",<", Period: ".>", Slash: "/?" };
export function keyOf({ key, code = "", shiftKey }) {
  if (!/^[^\x00-\u024F\u2000-\u20CF]$/u.test(key)) return key;
  const place = /^Key[A-Z]$/.test(code) ? code[3].toLowerCase() + code[3] : SIGNS[code];
  return place?.[Number(shiftKey)] ?? key;
}
export function keyName(event) {
  const key = keyOf(event), shift = event.shiftKey && (key.length > 1 || key === " ");
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${shift ? "Shift+" : ""}${key === " " ? "Space" : key}`;
}
export function bind() {
  bound.clear();
  for (const [action, keys] of Object.entries(state.settings.keys)) for (const key of keys.split(" ").filter(Boolean)) bound.set(key, action);
}
export function isBound(event) { return bound.has(keyName(event)); }
export function typingKey(event) {
  const action = bound.get(keyName(event));
  if (!action) return false;
  event.preventDefault();
  return RUN[action] ? (RUN[action](), true) : insertMark(action);
}
// The cursor stands before the terminator, where a word is added.
export function typeText() {
  const end = text.value.search(/\s*\+?[.!?"\/]+$/);
  text.focus();
  text.setSelectionRange(end < 0 ? text.value.length : end, end < 0 ? text.value.length : end);
}
function turn(by) {
  const typing = document.activeElement === text, playing = isPlaying();
  if (document.activeElement.id === "comment") document.getElementById("list").focus();  // which saves it where it belongs
  stop();
  step(by);
  if (typing) typeText();
  if (playing) playUtterance();
}
// Where a mark belongs that is put while nothing is typed: before the word that is playing, else before the chosen one.
function place() {
  const each = current(), now = position(), words = each.words;
  if (!isPlaying()) return words[Math.min(state.first, state.last)]?.[0] ?? 0;
  const timed = words.find((word) => word[3] !== null && word[3] >= now - 150);
  if (timed) return timed[0];
  if (words.some((word) => word[3] !== null)) return words.at(-1)[1];
  const share = (now - each.start_ms) / Math.max(1, each.end_ms - each.start_ms);
  return (words.find((word) => word[0] >= share * each.text.length) ?? words.at(-1) ?? [0])[0];
}
function withMark(value, at, mark) {
  let from = at;
  while (from > 0 && /\S/.test(value[from - 1]) && /\S/.test(value[from] ?? " ")) from -= 1;  // not inside a word
  const before = value.slice(0, from), after = value.slice(from), lead = before && !/\s$/.test(before) ? " " : "";
  const tail = /^\s/.test(after) ? "" : " ", cursor = (before + lead + mark).length;
  return [`${before}${lead}${mark}${tail}${after}`, mark.endsWith("+") ? cursor : cursor + 1];
}
export async function insertMark(mark) {
  if (!current()) return;
  const typing = document.activeElement === text;
  const [value, cursor] = withMark(text.value, typing ? text.selectionStart : place(), mark);
  if (!typing && !mark.endsWith("+")) {
    await edit({ action: "text", number: state.at, text: value });
    chooseWords(Math.min(state.first, state.last), Math.min(state.first, state.last));
    return;
  }
  text.focus();
  text.value = value;
  text.setSelectionRange(cursor, cursor);
  text.dispatchEvent(new Event("input"));
}
