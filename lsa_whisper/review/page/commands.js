// Everything that a key or a button does, with the text of the help.
import { state, current, chooseWords, choose, isTyping } from "./state.js";
import { edit, say } from "./server.js";
import { step } from "./list.js";
import { nextDoubtful } from "./filters.js";
import { playUtterance, playWords, toggleLoop, changeSpeed } from "./player.js";
import { insertMark, typeText } from "./typing.js";
import { nextGap, fillGap } from "./gaps.js";
import { openSettings } from "./settings.js";
import { changeZoom, showSpectrogram } from "./waveform.js";
import { openReplace } from "./replace.js";
import { openSpeakers } from "./speakers.js";
import { nudge, nudgeWord } from "./drag.js";
const at = (id) => document.getElementById(id), low = () => Math.min(state.first, state.last), high = () => Math.max(state.first, state.last);
const number = () => state.at;
async function review(on) {
  const body = { action: "reviewed", number: number(), reviewed: on }, found = await edit(body);
  if (!found.error && on && body.number === number() && !isTyping()) step(1);
}
async function insert() {
  const found = await edit({ action: "insert", number: number() + 1, speaker: current().speaker });
  if (!found.error && !isTyping()) choose(found.at);
}
let asked = "";
export async function mark(name) {
  const before = current()?.words.length ?? 0, [first, last] = [low(), high()];
  const request = `${number()} ${first} ${last} ${name}`, sure = asked === request;
  asked = sure ? "" : request;  // before the answer: a second press may follow at once
  const body = { action: "mark", number: number(), first, last, mark: name, sure }, found = await edit(body);
  if (found.ask) { say(found.ask); return; }
  if (asked === request) asked = "";
  const after = current()?.words.length ?? 0;
  if (body.number === number()) chooseWords(first, Math.max(first, last + after - before));
}
function extend(by) { chooseWords(state.first, state.last + by); }
function move(by) { const next = (by > 0 ? high() : low()) + by; chooseWords(next, next); }
export function undo() { return edit({ action: "undo" }); }
export function redo() { return edit({ action: "redo" }); }
export function speakerNumber(n) { const code = Object.keys(state.participants)[n - 1]; return code && edit({ action: "speaker", number: number(), speaker: code }); }
export const COMMANDS = [
  ["ArrowDown", "next utterance", () => step(1)],
  ["ArrowUp", "previous utterance", () => step(-1)],
  ["Home", "first utterance", () => choose(state.shown[0] ?? 0)],
  ["End", "last utterance", () => choose(state.shown.at(-1) ?? 0)],
  ["n", "next doubtful utterance", () => nextDoubtful()],
  ["N", "previous doubtful utterance", () => nextDoubtful(true)],
  ["ArrowRight", "next word", () => move(1)],
  ["ArrowLeft", "previous word", () => move(-1)],
  ["Shift+ArrowRight", "choose one more word", () => extend(1)],
  ["Shift+ArrowLeft", "choose one word less", () => extend(-1)],
  [" ", "play the utterance, or stop", () => playUtterance()],
  ["Shift+ ", "play on from here", () => playUtterance({ on: true })],
  ["a", "play the chosen words", () => playWords()],
  ["o", "loop", () => toggleLoop()],
  ["-", "slower", () => changeSpeed(-1)],
  ["+", "faster", () => changeSpeed(1)],
  ["Enter", "type the text (Escape: back)", typeText],
  ["y", "reviewed, and on to the next", () => review(true)],
  ["Y", "not reviewed", () => review(false)],
  ["[", "zoom out", () => changeZoom(1 / 1.5)],
  ["]", "zoom in", () => changeZoom(1.5)],
  ["q", "spectrogram, or none", () => showSpectrogram()],
  ["R", "find and replace in what is shown", () => openReplace()],
  ["K", "settings: keys that work inside the text", () => openSettings()],
  ["S", "speakers: add, describe, rename, merge", () => openSpeakers()],
  ["d", "divide before the chosen word", () => edit({ action: "split", number: number(), word: low() }), "Divide"],
  ["m", "join with the next utterance", () => edit({ action: "join", number: number() }), "Join"],
  ["i", "insert an utterance after this one", insert, "Insert"],
  ["Delete", "delete the utterance", () => edit({ action: "delete", number: number() }), "Delete"],
  ["c", "comment (Enter: done)", () => at("comment").focus()],
  ["u", "put &-um where the sound is, or before the chosen word", () => insertMark("&-um")],
  ["h", "put &-uh there", () => insertMark("&-uh")],
  ["k", "put a pause (.) there", () => insertMark("(.)")],
  ["j", "put &+ there, and type the sounds", () => insertMark("&+")],
  ["G", "next place with speech and too few words", () => nextGap()],
  ["I", "make an utterance of that place", () => fillGap()],
  [",", "start 20 ms earlier", () => nudge(0, -20)],
  [".", "start 20 ms later", () => nudge(0, 20)],
  ["<", "end 20 ms earlier", () => nudge(1, -20)],
  [">", "end 20 ms later", () => nudge(1, 20)],
  ["Alt+,", "start of the word 20 ms earlier", () => nudgeWord(0, -20)],
  ["Alt+.", "start of the word 20 ms later", () => nudgeWord(0, 20)],
  ["Alt+ArrowLeft", "end of the word 20 ms earlier", () => nudgeWord(1, -20)],
  ["Alt+ArrowRight", "end of the word 20 ms later", () => nudgeWord(1, 20)],
  ["z", "undo", undo],
  ["Z", "redo", redo],
  ["/", "search", () => at("search").focus()],
];
