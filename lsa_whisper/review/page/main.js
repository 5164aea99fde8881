// The page: starts the modules, shows the progress, and counts the minutes that a person works.
import { state, onChange, changed, tr } from "./state.js";
import { resolve, sendActivity, inTurn } from "./server.js";
import { openFiles, first, canCompare } from "./start.js";
import { undo, redo } from "./commands.js";
import { playUtterance, playWords, toggleLoop, isPlaying } from "./player.js";
import { changeZoom, showSpectrogram } from "./waveform.js";
import { openComparison } from "./compare.js";
import "./keys.js";
const at = (id) => document.getElementById(id), root = document.documentElement;
function paint(dark) {
  root.dataset.theme = dark ? "dark" : "light";
  at("theme").textContent = dark ? tr("Light colors") : tr("Dark colors");
}
const preferred = matchMedia("(prefers-color-scheme: dark)");
paint(preferred.matches);
preferred.addEventListener("change", (event) => paint(event.matches));
const buttons = {
  theme: () => paint(root.dataset.theme !== "dark"),
  undo: () => inTurn(undo), redo: () => inTurn(redo), play: () => playUtterance(), "play-words": playWords, "zoom-in": () => changeZoom(1.5), "zoom-out": () => changeZoom(1 / 1.5), "spectrogram-button": showSpectrogram, "play-on": () => playUtterance({ on: true }), loop: toggleLoop,
  "files-button": openFiles, "compare-button": () => openComparison(() => { changed("list"); at("list").focus(); }),
  "take-foreign": () => resolve("take_foreign"), "keep-own": () => resolve("keep_own"),
};
for (const [id, run] of Object.entries(buttons)) at(id).addEventListener("click", () => run());
onChange(() => {
  const { reviewed, utterances, errors_left: left, minutes, corrections } = state.progress;
  const counts = Object.entries(corrections ?? {}).map(([kind, count]) => `${tr(kind.replaceAll("_", " "))} ${count}`).join(", ");
  const number = left?.length ? tr("about {0} errors left ({1} to {2})", ...left) : tr("errors left: cannot be told yet");
  const expected = left ? `; ${number}` : "";
  at("progress").textContent = tr("{0} of {1} reviewed", reviewed, utterances) + expected + tr("; {0} minutes", minutes);
  at("draft").textContent = state.draft ?? ""; at("draft").hidden = !state.draft;
  at("corrections").textContent = counts ? tr("Corrected since the draft: {0}", counts) : "";
  at("undo").disabled = !state.canUndo; at("redo").disabled = !state.canRedo;
  at("compare-button").hidden = !canCompare();
});
let worked = 0, lastSign = 0;
for (const kind of ["keydown", "input", "pointerdown", "wheel"]) document.addEventListener(kind, () => { lastSign = performance.now(); }, { passive: true });
setInterval(() => {
  if (at("review").hidden) return;
  if (performance.now() - lastSign < 15000 || isPlaying()) worked += 1;
  if (worked >= 20) { sendActivity(worked); worked = 0; }
}, 1000);
first();
