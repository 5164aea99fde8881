// The overlay with all keys.
import { COMMANDS } from "./commands.js";
import { state } from "./state.js";
import { NAMES as ACTIONS } from "./settings.js";
import { element } from "./row.js";
const help = document.getElementById("help"), keys = document.getElementById("keys");
const NAMES = { " ": "Space", "Shift+ ": "Shift+Space" };
export function openHelp() {
  const rows = COMMANDS.map(([key, text]) => [NAMES[key] ?? key, text]);
  for (const button of document.querySelectorAll("[data-mark]")) rows.push([button.dataset.key, `mark: ${button.textContent.replace(/ \(.\)$/, "")}`]);
  for (const [name, keys] of Object.entries(state.settings.keys)) if (keys) rows.push([keys.replace(" ", ", "), `also in the text: ${ACTIONS[name] ?? `put ${name} at the cursor`}`]);
  rows.push(["1 to 9", "change the speaker"], ["Alt+Enter", "take the proposal"], ["Ctrl+Z, Ctrl+Y", "undo, redo"], ["Escape", "leave a field"], ["?", "this help"]);
  keys.replaceChildren(...rows.flatMap(([key, text]) => [element("dt", { text: key }), element("dd", { text })]));
  help.showModal();
}
document.getElementById("help-button").addEventListener("click", openHelp);
document.getElementById("help-close").addEventListener("click", () => help.close());
