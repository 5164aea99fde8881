// The user's settings: the keys that work inside the text, and how far playing goes back.
import { state, tr } from "./state.js";
import { act, say } from "./server.js";
import { element } from "./row.js";
import { bind, keyName } from "./typing.js";
const at = (id) => document.getElementById(id), dialog = at("settings"), rows = at("settings-keys");
export const NAMES = { play: "play or pause", back: "back", forward: "forward", next: "next utterance", previous: "previous utterance", again: "play the utterance from its start", loop: "loop", slower: "slower", faster: "faster" };
export function useSettings(settings) { state.settings = settings; bind(); }
export function openSettings() {
  rows.replaceChildren(...Object.entries(state.settings.keys).flatMap(([name, keys]) => {
    const field = element("input", { id: `key-${name}`, "data-name": name, autocomplete: "off" }), title = element("label", { text: NAMES[name] ? tr(NAMES[name]) : tr("insert {0}", name), for: `key-${name}` });
    field.value = keys;
    return [title, field];
  }));
  at("back-s").value = state.settings.back_s; at("rewind-s").value = state.settings.rewind_s; at("play-next").checked = state.settings.play_next;
  dialog.showModal();
  rows.querySelector("input").focus();
}
// A key pressed in a field becomes its content; Backspace empties the field, Tab and Escape keep their meaning.
rows.addEventListener("keydown", (event) => {
  if (["Tab", "Escape", "Enter", "Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
  event.preventDefault();
  const key = keyName(event), field = event.target;
  field.value = key === "Backspace" ? "" : [...new Set([...field.value.split(" ").filter(Boolean), key])].slice(-2).join(" ");
});
async function save() {
  const keys = Object.fromEntries([...rows.querySelectorAll("input")].map((field) => [field.dataset.name, field.value]));
  const found = await act({ action: "settings", settings: { keys, back_s: Number(at("back-s").value), rewind_s: Number(at("rewind-s").value), play_next: at("play-next").checked } });
  if (found.keys) { useSettings(found); dialog.close(); say(""); }
}
dialog.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.target.matches("input")) { event.preventDefault(); save(); } });
at("settings-save").addEventListener("click", save);
at("settings-close").addEventListener("click", () => dialog.close());
at("settings-button").addEventListener("click", openSettings);
