// The spectrogram below the waveform: tiles of the server, kept and drawn where the waveform is.
import { state, tr } from "./state.js";
const canvas = document.getElementById("spectrogram"), TILE_MS = [8000, 2000], MAX_VIEW_MS = 90000, MAX_KEPT = 120;
const tiles = new Map();
export function spectrogramIsShown() { return !canvas.hidden; }
export function toggleSpectrogram() { canvas.hidden = !canvas.hidden; }
function tile(key, address, draw) {
  if (!tiles.has(key)) {
    const image = new Image();
    image.addEventListener("load", draw);
    image.src = address;
    tiles.set(key, image);
    if (tiles.size > MAX_KEPT) tiles.delete(tiles.keys().next().value);
  }
  return tiles.get(key);
}
export function drawSpectrogram(pen, width, height, view, gainDb, draw) {
  const length = view.end - view.start;
  if (length > MAX_VIEW_MS) { pen.fillText(tr("zoom in (]) to see the spectrogram"), 8, 16); return; }
  const level = length > 9000 ? 0 : 1, ms = TILE_MS[level];
  for (let number = Math.max(0, Math.floor(view.start / ms)); number * ms < Math.min(view.end, state.duration); number += 1) {
    const query = `file=${state.file}&sound=${state.sound}&level=${level}&tile=${number}&gain_db=${gainDb}`, image = tile(query, `spectrogram?${query}`, draw);
    const left = (number * ms - view.start) / length * width, wide = image.naturalWidth / 800 * ms / length * width;
    if (image.complete && image.naturalWidth) pen.drawImage(image, left, 0, wide, height);
  }
}
