// The overlay with all keys.
import { COMMANDS } from "./commands.js";
import { state, tr } from "./state.js";
import { NAMES as ACTIONS } from "./settings.js";
import { element } from "./row.js";
const help = document.getElementById("help"), keys = document.getElementById("keys");
const NAMES = { " ": "Space", "Shift+ ": "Shift+Space" };
export function openHelp() {
  const rows = COMMANDS.map(([key, text]) => [tr(NAMES[key] ?? key), tr(text)]);
  for (const button of document.querySelectorAll("[data-mark]")) rows.push([button.dataset.key, tr("mark: {0}", button.textContent.replace(/ \(.\)$/, ""))]);
  for (const [name, keys] of Object.entries(state.settings.keys)) if (keys) rows.push([keys.replace(" ", ", "), tr("also in the text: {0}", ACTIONS[name] ? tr(ACTIONS[name]) : tr("put {0} at the cursor", name))]);
  rows.push([tr("1 to 9"), tr("change the speaker")], ["Alt+Enter", tr("take the proposal")], ["Ctrl+Z, Ctrl+Y", tr("undo, redo")], ["Escape", tr("leave a field")], ["?", tr("this help")]);
  keys.replaceChildren(...rows.flatMap(([key, text]) => [element("dt", { text: key }), element("dd", { text })]));
  help.showModal();
}
document.getElementById("help-button").addEventListener("click", openHelp);
document.getElementById("help-close").addEventListener("click", () => help.close());
