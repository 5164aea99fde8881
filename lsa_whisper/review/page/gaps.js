// Places with speech and too few words, from the recognizer: shown in the waveform and the list, and made utterances by a key.
import { state, current, choose, changed, isTyping, onChange, tr } from "./state.js";
import { edit, say } from "./server.js";
import { play } from "./player.js";
let open = [], chosen = null;
const near = (a, b) => Math.abs(a - b) < 300;
function find() {
  open = (state.missed ?? []).filter(([start, end]) => !state.utterances.some((each) => each.start_ms !== null && ((near(each.start_ms, start) && near(each.end_ms, end)) || (each.reviewed && each.start_ms < end && each.end_ms > start))));
  if (chosen && !open.includes(chosen)) chosen = null;
}
export function gaps() { return open; }
export function isChosenGap(gap) { return gap === chosen; }
export function gapBefore(number) {
  const start = state.utterances[number].start_ms, before = state.utterances[number - 1]?.start_ms ?? -1;
  return start !== null && open.some((gap) => gap[0] < start && gap[0] >= before);
}
export function nextGap() {
  if (!open.length) { say(tr("No place with speech and too few words is left.")); return; }
  chosen = open[(open.indexOf(chosen) + 1) % open.length];
  const behind = state.utterances.findIndex((each) => each.start_ms !== null && each.start_ms > chosen[0]);
  const gap = chosen;
  choose(Math.max(0, (behind < 0 ? state.utterances.length : behind) - 1));
  chosen = gap;
  say(tr("Speech, and too few words: {0} to {1} s. I makes an utterance of it.", (gap[0] / 1000).toFixed(1), (gap[1] / 1000).toFixed(1)));
  changed("gap");
  play(gap[0], gap[1]);
}
export async function fillGap() {
  const gap = chosen ?? open.find(([start]) => start >= (current()?.start_ms ?? 0));
  if (!gap) { say(tr("No place with speech and too few words is chosen; G goes to the next.")); return; }
  const number = state.utterances.findIndex((each) => each.start_ms !== null && each.start_ms > gap[0]), at = number < 0 ? state.utterances.length : number;
  const found = await edit({ action: "fill", number: at, speaker: current()?.speaker ?? Object.keys(state.participants)[0], start_ms: gap[0], end_ms: gap[1] });
  if (found.error || isTyping()) return;
  choose(found.at);
  const text = document.getElementById("text");
  text.focus(); text.setSelectionRange(0, text.value.length);
}
onChange((what) => { if (["list", "text"].includes(what)) find(); if (what === "choice") chosen = null; });
