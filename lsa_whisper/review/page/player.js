// Playing a span of the recording: slower without changing the pitch, in a loop, or on and on.
import { state, current, choose, isTyping, clock, onChange, tr } from "./state.js";
import { say } from "./server.js";
const audio = document.getElementById("audio"), loopButton = document.getElementById("loop"), speed = document.getElementById("speed");
let rest = null, span = null, loop = false, onward = false, offset = 0, clips = false;
const address = () => `file=${state.file}&sound=${state.sound}`;
export function openSound() {
  // Of one channel, the server makes clips.
  clips = state.sounds[state.sound].includes(", channel "); offset = 0; span = null;
  if (!clips) audio.src = `sound?${address()}`;
  audio.preservesPitch = true;
}
audio.addEventListener("error", () => {
  if (clips) say(tr("The recording cannot be read any more; look whether it is still there."));
  else if (audio.src) { clips = true; if (span) play(...span); }
});
audio.addEventListener("ended", () => { if (clips && span && position() < Math.min(span[1], state.duration) - 50) play(position(), span[1], { on: onward }); });
export function position() { return (audio.currentTime + offset) * 1000; }
export function isPlaying() { return !audio.paused; }
export function play(start_ms, end_ms, { on = false } = {}) {
  span = [start_ms, end_ms]; onward = on;
  if (clips) {
    offset = start_ms / 1000;
    audio.src = `clip?${address()}&start_ms=${Math.round(start_ms)}&end_ms=${Math.round(Math.max(Math.min(end_ms, start_ms + 60000), start_ms + 10))}`;
  } else audio.currentTime = start_ms / 1000;
  audio.playbackRate = Number(speed.value);
  audio.play().catch(() => {});
  requestAnimationFrame(follow);
}
export function stop() { audio.pause(); }
// Pausing keeps the place; going on begins a little before it.
export function toggle() {
  if (isPlaying()) { rest = position(); stop(); return; }
  const each = current(), { rewind_s: rewind, play_next: on } = state.settings;
  if (!each || each.start_ms === null) return;
  const from = rest !== null && rest > each.start_ms && rest < each.end_ms ? Math.max(each.start_ms, rest - 1000 * rewind) : each.start_ms;
  play(from, on ? Infinity : each.end_ms, { on });
}
export function skip(seconds) {
  const from = Math.max(0, (isPlaying() || rest === null ? position() : rest) + 1000 * seconds);
  play(from, Math.max(span?.[1] ?? 0, current()?.end_ms ?? 0, from + 10), { on: onward });
}
function follow() {
  if (audio.paused || !span) return;
  const now = position();
  document.getElementById("clock").textContent = clock(now);
  if (now >= span[1]) {
    if (loop) play(...span);
    else if (!onward) { rest = null; audio.pause(); return; }
  }
  if (onward) step(now);
  for (const listener of ticks) listener(now);
  requestAnimationFrame(follow);
}
const ticks = [];
export function onTick(listener) { ticks.push(listener); }
function step(now) {
  if (isTyping()) return;  // what is typed belongs to this utterance
  const here = current();
  if (here && here.start_ms !== null && now >= here.start_ms && now < here.end_ms) return;
  const found = state.utterances.findIndex((each) => each.start_ms !== null && now >= each.start_ms && now < each.end_ms);
  if (found >= 0 && found !== state.at) choose(found);
}
export function playUtterance({ on = false } = {}) {
  if (isPlaying()) { stop(); return; }
  const each = current();
  if (each?.start_ms !== null && each) play(each.start_ms, on ? Infinity : each.end_ms, { on });
}
export function playWords() {
  const each = current(), words = each?.words.slice(Math.min(state.first, state.last), Math.max(state.first, state.last) + 1) ?? [];
  const timed = words.filter((word) => word[3] !== null);
  if (timed.length) play(timed[0][3] - 40, timed.at(-1)[4] + 60);
  else if (each && each.start_ms !== null) {
    const length = Math.max(1, each.text.length), share = (each.end_ms - each.start_ms) / length;
    play(each.start_ms + share * (words[0]?.[0] ?? 0) - 100, each.start_ms + share * (words.at(-1)?.[1] ?? length) + 150);
  }
}
// Quiet speech is made louder by the browser's mixer, which is started when it is asked for.
let mixer = null, amplifier = null;
export function setGain(db) {
  if (!mixer && db) {
    mixer = new AudioContext();
    amplifier = mixer.createGain();
    mixer.createMediaElementSource(audio).connect(amplifier).connect(mixer.destination);
  }
  if (amplifier) amplifier.gain.value = 10 ** (db / 20);
}
audio.addEventListener("loadedmetadata", () => { audio.hidden = !audio.videoWidth; });
export function toggleLoop() { loop = !loop; loopButton.setAttribute("aria-pressed", String(loop)); }
export function changeSpeed(by) {
  speed.selectedIndex = Math.max(0, Math.min(speed.options.length - 1, speed.selectedIndex + by));
  audio.playbackRate = Number(speed.value);
}
speed.addEventListener("change", () => changeSpeed(0));
onChange((what) => { if (what === "choice" && isPlaying() && !onward) stop(); });
