// The waveform: peaks arrive in pieces and are drawn on two canvases, the whole recording and a part of it.
import { state, current, onChange, choose } from "./state.js";
import { position, isPlaying, onTick } from "./player.js";
import { startDrag } from "./drag.js";
const PER_S = 100, wave = document.getElementById("wave"), overview = document.getElementById("overview");
let peaks = new Int8Array(0), filled = 0, asked = 0;
export const view = { start: 0, end: 10000 };
export async function openPeaks(file) {
  const turn = asked += 1;
  peaks = new Int8Array(0); filled = 0;
  const answer = await fetch(`peaks?file=${file}`);
  if (!answer.ok) return;
  state.duration = Number(answer.headers.get("x-seconds")) * 1000;
  peaks = new Int8Array(Math.ceil(state.duration / 1000 * PER_S + PER_S) * 2);
  const reader = answer.body.getReader();
  let late = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (turn !== asked) { reader.cancel(); return; }
    if (value) { peaks.set(new Int8Array(value.buffer, value.byteOffset, Math.min(value.length, peaks.length - filled)), filled); filled += value.length; }
    if (done || performance.now() - late > 250) { late = performance.now(); drawAll(); }
    if (done) return;
  }
}
function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
function context(canvas) {
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const made = canvas.getContext("2d");
  made.setTransform(ratio, 0, 0, ratio, 0, 0);
  made.clearRect(0, 0, width, height);
  return [made, width, height];
}
function drawPeaks(pen, width, height, start, end) {
  pen.fillStyle = colour("--wave");
  const per = (end - start) / 1000 * PER_S / width;
  for (let x = 0; x < width; x += 1) {
    const from = Math.floor(start / 1000 * PER_S + x * per), to = Math.max(from + 1, Math.floor(from + per));
    let low = 0, high = 0;
    for (let at = Math.max(0, from), stride = Math.max(1, Math.floor((to - from) / 50)); at < to && at * 2 < filled; at += stride) {
      low = Math.min(low, peaks[at * 2]); high = Math.max(high, peaks[at * 2 + 1]);
    }
    const middle = height / 2;
    pen.fillRect(x, middle - high / 127 * middle, 1, Math.max(1, (high - low) / 127 * middle));
  }
}
const SPEAKERS = ["--s0", "--s1", "--s2", "--s3", "--s4", "--s6"];
function speakerColour(code) { return colour(SPEAKERS[Math.max(0, Object.keys(state.participants).indexOf(code)) % 6]); }
export function x(ms, width) { return (ms - view.start) / (view.end - view.start) * width; }
export function ms(at, width) { return view.start + at / width * (view.end - view.start); }
function drawWave() {
  const [pen, width, height] = context(wave);
  drawPeaks(pen, width, height - 16, view.start, view.end);
  for (const [number, each] of state.utterances.entries()) {
    if (each.start_ms === null || each.end_ms < view.start || each.start_ms > view.end) continue;
    const left = x(each.start_ms, width), right = x(each.end_ms, width);
    pen.globalAlpha = number === state.at ? 0.22 : 0.08;
    pen.fillStyle = speakerColour(each.speaker);
    pen.fillRect(left, 0, right - left, height);
    pen.globalAlpha = 1;
    pen.fillRect(left, 0, number === state.at ? 2 : 1, height); pen.fillRect(right - 1, 0, number === state.at ? 2 : 1, height);
    if (number !== state.at) continue;
    pen.font = "12px sans-serif"; pen.fillStyle = colour("--ink");
    let free = 0;
    for (const word of each.words) {
      if (word[3] === null) continue;
      const text = each.text.slice(word[0], word[1]), at = x(word[3], width) + 2;
      if (at >= free) { pen.fillText(text, at, height - 4); free = at + pen.measureText(text).width; }
      pen.fillRect(x(word[3], width), height - 16, 1, 16); pen.fillRect(x(word[4], width), height - 16, 1, 16);
    }
  }
  drawCursor(pen, height, x(position(), width));
}
function drawCursor(pen, height, at) {
  if (!isPlaying()) return;
  pen.fillStyle = colour("--s1"); pen.fillRect(at, 0, 2, height);
}
function drawOverview() {
  const [pen, width, height] = context(overview), total = state.duration || 1;
  drawPeaks(pen, width, height, 0, total);
  pen.fillStyle = colour("--accent"); pen.globalAlpha = 0.3;
  pen.fillRect(view.start / total * width, 0, Math.max(2, (view.end - view.start) / total * width), height);
  pen.globalAlpha = 1;
}
export function drawAll() { drawWave(); drawOverview(); }
function fit() {
  const each = current();
  if (!each || each.start_ms === null) return;
  const margin = Math.max(800, (each.end_ms - each.start_ms) * 0.35);
  view.start = Math.max(0, each.start_ms - margin); view.end = each.end_ms + margin;
}
overview.addEventListener("click", (event) => {
  const at = event.offsetX / overview.clientWidth * state.duration;
  const found = state.utterances.findIndex((each) => each.end_ms !== null && each.end_ms >= at);
  if (found >= 0) choose(found);
});
wave.addEventListener("pointerdown", (event) => startDrag(event, wave, { x, ms, draw: drawWave }));
onChange((what) => { if (["choice", "list", "text"].includes(what)) { fit(); requestAnimationFrame(drawAll); } });
onTick(() => drawWave());
new ResizeObserver(() => drawAll()).observe(wave);
new MutationObserver(() => drawAll()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
