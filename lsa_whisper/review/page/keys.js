// One place for all keys: those of the review, and Escape, which leads back to the list.
import { tr } from "./state.js";
import { COMMANDS, mark, undo, redo, speakerNumber } from "./commands.js";
import { flush, takeProposal } from "./editor.js";
import { openHelp } from "./help.js";
import { typingKey } from "./typing.js";
import { compareKey, comparing } from "./compare.js";
const list = document.getElementById("list"), marks = new Map();
for (const button of document.querySelectorAll("[data-mark]")) {
  marks.set(button.dataset.key, button.dataset.mark);
  button.addEventListener("click", () => mark(button.dataset.mark));
}
const commands = new Map(COMMANDS.map(([key, , run]) => [key, run]));
function name(event) {
  const shift = event.shiftKey && (event.key.length > 1 || event.key === " ");
  return `${event.altKey ? "Alt+" : ""}${shift ? "Shift+" : ""}${event.key}`;
}
function writing(target) { return target.matches("textarea, select, input:not([type=checkbox])"); }
document.addEventListener("keydown", async (event) => {
  const listing = document.getElementById("review").hidden && !comparing();  // of the files, with two buttons that have keys
  if (document.querySelector("dialog[open]") || (listing && !["?", "K"].includes(event.key))) return;
  if (!comparing() && typingKey(event)) return;
  const control = event.ctrlKey || event.metaKey;
  if (writing(event.target)) {
    if (event.key === "Escape" || (event.key === "Enter" && !event.altKey && event.target.id !== "text")) { event.preventDefault(); list.focus({ preventScroll: true }); }
    else if (event.key === "Enter" && event.altKey) { event.preventDefault(); takeProposal(); }
    else if (event.key === "Enter" && event.target.id === "text") { event.preventDefault(); await flush(); list.focus({ preventScroll: true }); }
    return;
  }
  if (control && event.key.toLowerCase() === "z") { event.preventDefault(); (event.shiftKey ? redo : undo)(); return; }
  if (control && event.key.toLowerCase() === "y") { event.preventDefault(); redo(); return; }
  if (control) return;
  if (event.key === "?") { event.preventDefault(); openHelp(); return; }
  if (comparing()) { compareKey(event); return; }
  if (event.target.matches("button, input") && [" ", "Enter"].includes(event.key)) return;
  const run = commands.get(name(event)) ?? (marks.has(event.key) && !event.altKey ? () => mark(marks.get(event.key)) : null) ?? (/^[1-9]$/.test(event.key) ? () => speakerNumber(Number(event.key)) : null);
  if (!run) return;
  event.preventDefault();
  run();
});
const bar = document.getElementById("commands");
for (const [key, text, run, label] of COMMANDS) {
  if (!label) continue;
  const button = document.createElement("button");
  button.type = "button"; button.textContent = `${tr(label)} (${key})`; button.title = tr(text);
  button.addEventListener("click", run);
  bar.append(button);
}
