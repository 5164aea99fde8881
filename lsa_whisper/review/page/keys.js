// One place for all keys: those of the review, and Escape, which leads back to the list.
import { tr } from "./state.js";
import { COMMANDS, mark, undo, redo, speakerNumber } from "./commands.js";
import { takeProposal } from "./editor.js";
import { inTurn, isBusy } from "./server.js";
import { openHelp } from "./help.js";
import { typingKey, isBound, keyOf } from "./typing.js";
import { compareKey, comparing } from "./compare.js";
const list = document.getElementById("list"), marks = new Map();
for (const button of document.querySelectorAll("[data-mark]")) {
  marks.set(button.dataset.key, button.dataset.mark);
  button.addEventListener("click", () => inTurn(() => mark(button.dataset.mark)));
}
const commands = new Map(COMMANDS.map(([key, , run]) => [key, run]));
function name(event) {
  const key = keyOf(event), shift = event.shiftKey && (key.length > 1 || key === " ");
  const alt = event.altKey && !"[]".includes(key);  // which need Option on some keyboards
  return `${alt ? "Alt+" : ""}${shift ? "Shift+" : ""}${key}`;
}
function writing(target) { return target.matches("textarea, select, input:not([type=checkbox])"); }
// Keys of an input method (Chinese, Japanese, Korean), of which Enter takes a word, are its own. Safari tells by 229 alone.
document.addEventListener("keydown", (event) => { if (event.isComposing || event.keyCode === 229) event.stopImmediatePropagation(); }, true);
// A key waits for the answers to those before it. What they put the cursor into gets it then, as if it was pressed there.
document.addEventListener("keydown", (event) => {
  const late = isBusy(), clicks = event.target.matches("button, input[type=checkbox]") && [" ", "Enter"].includes(event.key);
  const own = clicks || (/^(F\d+|Tab)$/.test(event.key) && !isBound(event)) || ((event.ctrlKey || event.metaKey) && !/^[ayz]$/i.test(keyOf(event)));
  if (writing(event.target) || (late && own)) { press(event); return; }
  if (late) event.preventDefault();
  inTurn(() => (late ? pressLate(event) : press(event)));
});
const MOVES = { Home: ["backward", "lineboundary"], End: ["forward", "lineboundary"], ArrowLeft: ["left", "character"], ArrowRight: ["right", "character"] };
function pressLate(event) {
  const field = document.activeElement;
  if (!writing(field)) return press(event);
  const late = new KeyboardEvent("keydown", event);
  if (!field.dispatchEvent(late)) return undefined;
  if (event.ctrlKey || event.metaKey) { if (keyOf(event) === "a") field.select(); }
  else if (event.key === "Backspace") document.execCommand("delete");
  else if (event.key === "Delete") document.execCommand("forwardDelete");
  else if (MOVES[event.key]) getSelection().modify(event.shiftKey ? "extend" : "move", ...MOVES[event.key]);
  else if (event.key.length === 1 && !event.altKey) document.execCommand("insertText", false, event.key);
  return undefined;
}
function press(event) {
  const listing = document.getElementById("review").hidden && !comparing();  // of the files, with two buttons that have keys
  if (document.querySelector("dialog[open]") || (listing && !["?", "K"].includes(keyOf(event)))) return undefined;
  const bound = !comparing() && typingKey(event);
  if (bound) return bound;
  const control = event.ctrlKey || event.metaKey, key = keyOf(event);
  if (writing(event.target)) {
    if (event.key === "Escape" || (event.key === "Enter" && !event.altKey && event.target.id !== "text")) { event.preventDefault(); list.focus({ preventScroll: true }); }
    else if (event.key === "Enter" && event.altKey) { event.preventDefault(); takeProposal(); }
    else if (event.key === "Enter" && event.target.id === "text") { event.preventDefault(); list.focus({ preventScroll: true }); }
    return undefined;
  }
  if (control && key.toLowerCase() === "z") { event.preventDefault(); return (event.shiftKey ? redo : undo)(); }
  if (control && key.toLowerCase() === "y") { event.preventDefault(); return redo(); }
  if (control) return undefined;
  if (key === "?") { event.preventDefault(); openHelp(); return undefined; }
  if (comparing()) return compareKey(event);
  if (event.target.matches("button, input") && [" ", "Enter"].includes(event.key)) return undefined;
  const run = commands.get(name(event)) ?? (marks.has(key) && !event.altKey ? () => mark(marks.get(key)) : null) ?? (/^[1-9]$/.test(key) ? () => speakerNumber(Number(key)) : null);
  if (!run) return undefined;
  event.preventDefault();
  return run();
}
const bar = document.getElementById("commands");
for (const [key, text, run, label] of COMMANDS) {
  if (!label) continue;
  const button = document.createElement("button");
  button.type = "button"; button.textContent = `${tr(label)} (${key})`; button.title = tr(text);
  button.addEventListener("click", () => inTurn(run));
  bar.append(button);
}
