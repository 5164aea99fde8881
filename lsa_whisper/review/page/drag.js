// Dragging the ends of the chosen utterance, and in the lowest part of the waveform those of its words.
import { state, current } from "./state.js";
import { edit } from "./server.js";
const REACH = 7, WORDS = 18;
function nearest(event, canvas, x) {
  const each = current(), width = canvas.clientWidth;
  if (!each || each.start_ms === null) return null;
  const edges = [{ end: 0, ms: each.start_ms }, { end: 1, ms: each.end_ms }];
  if (event.offsetY > canvas.clientHeight - WORDS) {
    each.words.forEach((word, number) => {
      if (word[3] !== null) edges.unshift({ word: number, end: 0, ms: word[3] }, { word: number, end: 1, ms: word[4] });
    });
  }
  const found = edges.filter((edge) => Math.abs(x(edge.ms, width) - event.offsetX) <= REACH);
  return found.sort((a, b) => Math.abs(x(a.ms, width) - event.offsetX) - Math.abs(x(b.ms, width) - event.offsetX))[0] ?? null;
}
export function startDrag(event, canvas, { x, ms, draw }) {
  const edge = nearest(event, canvas, x), each = current();
  if (!edge) return;
  canvas.setPointerCapture(event.pointerId);
  const before = edge.word === undefined ? [each.start_ms, each.end_ms] : each.words[edge.word].slice(3, 5);
  const now = [...before], number = state.at;
  const set = (times) => {
    if (edge.word === undefined) [each.start_ms, each.end_ms] = times;
    else [each.words[edge.word][3], each.words[edge.word][4]] = times;
    draw();
  };
  const move = (moved) => { now[edge.end] = Math.max(0, Math.round(ms(moved.offsetX, canvas.clientWidth))); set(now); };
  const up = async () => {
    canvas.removeEventListener("pointermove", move);
    if (now[0] === before[0] && now[1] === before[1]) return;
    const found = await edit(moved(each, edge.word, now, number));
    if (found.error) set(before);
  };
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", up, { once: true });
}
function moved(each, word, [start_ms, end_ms], number = state.at) {
  if (word === undefined) return { action: "span", number, start_ms, end_ms };
  return { action: "word_span", number, word: each.words[word][5], start_ms, end_ms };
}
export function nudge(end, by) {
  const each = current(), word = each?.words[state.first];
  if (!each || each.start_ms === null) return undefined;
  const times = [each.start_ms, each.end_ms];
  times[end] += by;
  return edit(moved(each, undefined, times));
}
export function nudgeWord(end, by) {
  const each = current(), word = each?.words[state.first];
  if (!word || word[3] === null) return undefined;
  const times = [word[3], word[4]];
  times[end] += by;
  return edit(moved(each, state.first, times));
}
