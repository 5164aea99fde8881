// The waveform: peaks arrive in pieces and are drawn on two canvases, the whole recording and a part of it.
import { state, current, onChange, choose, tr } from "./state.js";
import { drawSpectrogram, spectrogramIsShown, toggleSpectrogram } from "./spectrogram.js";
import { position, isPlaying, onTick, setGain } from "./player.js";
import { gaps, isChosenGap } from "./gaps.js";
import { startDrag } from "./drag.js";
const PER_S = 100, wave = document.getElementById("wave"), overview = document.getElementById("overview"), spectrogram = document.getElementById("spectrogram");
let peaks = new Int8Array(0), filled = 0, asked = 0;
export const view = { start: 0, end: 10000 };
export async function openPeaks() {
  const turn = asked += 1;
  peaks = new Int8Array(0); filled = 0;
  const answer = await fetch(`peaks?file=${state.file}&sound=${state.sound}`);
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
const gainDb = () => Number(document.getElementById("gain").value), louder = () => 10 ** (gainDb() / 20);
function drawPeaks(pen, width, height, start, end) {
  const scale = louder() / 127;
  pen.fillStyle = colour("--wave");
  const per = (end - start) / 1000 * PER_S / width;
  for (let x = 0; x < width; x += 1) {
    const from = Math.floor(start / 1000 * PER_S + x * per), to = Math.max(from + 1, Math.floor(from + per));
    let low = 0, high = 0;
    for (let at = Math.max(0, from), stride = Math.max(1, Math.floor((to - from) / 50)); at < to && at * 2 < filled; at += stride) {
      low = Math.min(low, peaks[at * 2]); high = Math.max(high, peaks[at * 2 + 1]);
    }
    const middle = height / 2;
    high = Math.min(1, high * scale); low = Math.max(-1, low * scale);
    pen.fillRect(x, middle - high * middle, 1, Math.max(1, (high - low) * middle));
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
  drawGaps(pen, width, height);
  drawCursor(pen, height, x(position(), width));
}
function drawGaps(pen, width, height) {
  for (const gap of gaps()) {
    if (gap[1] < view.start || gap[0] > view.end) continue;
    const left = x(gap[0], width), right = x(gap[1], width);
    pen.strokeStyle = pen.fillStyle = colour("--s1"); pen.lineWidth = isChosenGap(gap) ? 3 : 1;
    pen.setLineDash([5, 4]); pen.strokeRect(left, 2, right - left, height - 20); pen.setLineDash([]);
    pen.font = "12px sans-serif"; pen.fillText(tr("speech, and too few words"), Math.max(2, left + 4), 14);
  }
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
function drawTiles() {
  if (!spectrogramIsShown()) return;
  const [pen, width, height] = context(spectrogram);
  drawSpectrogram(pen, width, height, view, gainDb(), drawTiles);
  const each = current();
  pen.fillStyle = colour("--accent");
  for (const ms of each && each.start_ms !== null ? [each.start_ms, each.end_ms] : []) pen.fillRect(x(ms, width) - 1, 0, 2, height);
  drawCursor(pen, height, x(position(), width));
}
function drawAll() { drawWave(); drawTiles(); drawOverview(); }
let zoom = 1;
export function changeZoom(by) {
  zoom = Math.max(1 / 64, Math.min(32, zoom * by));
  fit();
  drawAll();
}
export function showSpectrogram() {
  toggleSpectrogram();
  document.getElementById("spectrogram-button").setAttribute("aria-pressed", String(spectrogramIsShown()));
  drawAll();
}
function fit() {
  const each = current();
  if (!each || each.start_ms === null) return;
  const margin = Math.max(800, (each.end_ms - each.start_ms) * 0.35);
  const half = ((each.end_ms - each.start_ms) / 2 + margin) / zoom;
  view.start = Math.max(0, zoom > 1 ? each.start_ms - half / 4 : (each.start_ms + each.end_ms) / 2 - half);
  view.end = view.start + 2 * half;
}
overview.addEventListener("click", (event) => {
  const at = event.offsetX / overview.clientWidth * state.duration;
  const found = state.utterances.findIndex((each) => each.end_ms !== null && each.end_ms >= at);
  if (found >= 0) choose(found);
});
for (const canvas of [wave, spectrogram]) {
  canvas.addEventListener("pointerdown", (event) => startDrag(event, canvas, { x, ms, draw: () => { drawWave(); drawTiles(); } }));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const length = view.end - view.start, at = ms(event.offsetX, canvas.clientWidth);
    if (event.ctrlKey) { const by = event.deltaY < 0 ? 0.8 : 1.25; view.start = Math.max(0, at - (at - view.start) * by); view.end = view.start + length * by; }
    else { view.start = Math.max(0, view.start + (event.deltaY + event.deltaX) / 1000 * length); view.end = view.start + length; }
    requestAnimationFrame(drawAll);
  }, { passive: false });
}
function showGap() {
  const gap = gaps().find(isChosenGap);
  if (gap) [view.start, view.end] = [Math.max(0, gap[0] - 1500), gap[1] + 1500];
  requestAnimationFrame(drawAll);
}
onChange((what) => { if (what === "gap") showGap(); else if (["choice", "list", "text"].includes(what)) { fit(); requestAnimationFrame(drawAll); } });
onTick((now) => { follow(now); drawWave(); drawTiles(); });
document.getElementById("gain").addEventListener("change", () => { setGain(gainDb()); drawAll(); });
// While a part is played that is not in view, the view moves on.
function follow(now) {
  const length = view.end - view.start;
  if (zoom > 1 && (now > view.end || now < view.start)) { view.start = Math.max(0, now - 0.05 * length); view.end = view.start + length; }
}
new ResizeObserver(() => drawAll()).observe(wave);
new MutationObserver(() => drawAll()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
