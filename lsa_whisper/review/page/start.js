// The list of files, and transcribing those recordings that have no transcript yet.
import { state, load, changed, choose, tr } from "./state.js";
import { get, act, answered, say } from "./server.js";
import { element } from "./row.js";
import { useSettings } from "./settings.js";
import { openSound } from "./player.js";
import { openPeaks } from "./waveform.js";
const at = (id) => document.getElementById(id);
let timer = 0, opening = 0, found = { files: [] };
export async function openFiles() {
  for (const id of ["review", "comparison", "compare-button"]) at(id).hidden = true;
  for (const id of ["undo", "redo"]) at(id).disabled = true;
  at("progress").textContent = "";
  at("start").hidden = false;
  at("title").textContent = tr("Review");
  await refresh();
}
async function refresh() {
  clearTimeout(timer);
  found = await get("files");
  useSettings(found.settings);
  at("files").replaceChildren(...found.files.map(row));
  const missing = found.files.filter((each) => !each.transcript && each.recording), job = found.transcription;
  at("transcription").hidden = !missing.length && !job.running && job.exit_code === null;
  at("transcribe-all").disabled = job.running || !missing.length;
  at("transcribe-stop").disabled = !job.running;
  at("transcription-share").value = job.running ? job.share : 0;
  at("transcription-state").textContent = job.running ? tr("Transcribing: {0} % done. {1}", Math.round(100 * job.share), job.lines.at(-1) ?? "") : job.stopped ? tr("Stopped. What is done is kept.") : job.exit_code ? tr("Ended with an error: {0}", job.lines.at(-1) ?? "") : missing.length === 1 ? tr("1 recording has no transcript.") : tr("{0} recordings have no transcript.", missing.length);
  if (job.running && !at("start").hidden) timer = setTimeout(refresh, 1000);
}
function status(each) {
  if (!each.transcript) return tr("no transcript");
  if (!each.recording) return tr("no recording with this name was found; give its folder with --audio");
  return each.reviewed === null ? tr("no utterances") : "";
}
function row(each, number) {
  const made = element("tr"), button = element("button", { type: "button", text: each.transcript ? tr("Review") : tr("Transcribe") });
  button.setAttribute("aria-label", `${button.textContent} ${each.name}`);
  button.disabled = !each.transcript && !each.recording;
  button.addEventListener("click", () => (each.transcript ? openTranscript(number) : transcribe([number])));
  const last = element("td");
  last.append(button);
  made.append(element("th", { text: each.name, scope: "row", cls: "name" }), element("td", { text: each.reviewed === null ? "" : `${Math.round(100 * each.reviewed)} %` }), element("td", { text: each.problem || status(each) }), last);
  return made;
}
async function transcribe(files) {
  await act({ action: "transcribe", files, transcribe: true });
  await refresh();
}
at("transcribe-all").addEventListener("click", () => transcribe(found.files.map((each, number) => [each, number]).filter(([each]) => !each.transcript && each.recording).map(([, number]) => number)));
at("transcribe-stop").addEventListener("click", async () => { await act({ action: "stop", transcribe: true }); await refresh(); });
async function openTranscript(file) {
  say("");
  const turn = opening += 1;
  let opened;
  await answered();  // to what was typed in another transcript
  try { opened = await get(`transcript?file=${file}`); } catch (error) { say(error.message); return; }
  if (turn !== opening) return;  // another was asked for since
  state.file = file; state.at = 0; state.foreign = opened.foreign; state.sounds = opened.sounds; state.sound = 0;
  load(opened);
  at("start").hidden = true; at("review").hidden = false;
  at("conflict").hidden = !opened.foreign;
  at("title").textContent = opened.name;
  say(opened.remark || (opened.sounds.length ? "" : tr("A recording was not found beside this transcript; nothing can be played.")));
  history.replaceState(null, "", `#${file}`);
  changed("list");
  choose(Number(Object.keys(opened.pending)[0] ?? 0));
  at("list").focus({ preventScroll: true });
  offerSounds();
  if (state.sounds.length) openRecording();
  document.body.dataset.ready = String(file);
}
// A session may have several recordings, and a recording a channel for each microphone.
const sounds = at("sounds");
function openRecording() { openSound(); openPeaks(); }
function offerSounds() {
  sounds.parentElement.hidden = state.sounds.length < 2;
  sounds.replaceChildren(...state.sounds.map((name, number) => element("option", { text: name, value: String(number) })));
}
sounds.addEventListener("change", () => { state.sound = Number(sounds.value); openRecording(); changed("list"); });
export async function first() {
  found = await get("files");
  useSettings(found.settings);
  const asked = Number(location.hash.slice(1) || NaN);
  if (found.files[asked]?.transcript) return openTranscript(asked);
  if (found.files.length === 1 && found.files[0].transcript) return openTranscript(0);
  return openFiles();
}
export function canCompare() { return Boolean(found.files[state.file]?.compare); }
