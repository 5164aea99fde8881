// Find and replace in all utterances that are shown: a preview, and one step to undo.
import { state, tr } from "./state.js";
import { edit, answered } from "./server.js";
import { element } from "./row.js";
const at = (id) => document.getElementById(id), dialog = at("replacing"), MAX_SHOWN = 100, MAX_SENT = 100000;
let found = [];
export async function openReplace() { await answered(); dialog.showModal(); at("find").select(); show(); }
function pattern() {
  const text = at("find").value, source = at("regex").checked ? text : text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return text ? new RegExp(source, at("match-case").checked ? "gu" : "giu") : null;
}
function show() {
  let wanted = null;
  found = [];
  at("replace-problem").textContent = "";
  try { wanted = pattern(); } catch (error) { at("replace-problem").textContent = error.message; }
  const to = at("replace-with").value, by = at("regex").checked ? to : () => to;
  for (const number of wanted ? state.shown : []) {
    const text = state.utterances[number].text, made = text.replace(wanted, by).replace(/ {2,}/g, " ").trim();
    if (wanted.test(text) && made !== text) found.push([number, text, made]);
    wanted.lastIndex = 0;
  }
  found.sort((a, b) => a[0] - b[0]);
  at("replace-count").textContent = tr("{0} of {1} utterances change", found.length, state.shown.length);
  at("replace-all").disabled = !found.length;
  at("replace-preview").replaceChildren(...found.slice(0, MAX_SHOWN).map(([number, text, made]) => {
    const row = element("li", { value: number + 1 });
    row.append(element("del", { text }), element("br"), element("ins", { text: made }));
    return row;
  }));
}
async function replace() {
  let joins = false, count = found.length;
  while (found.length) {
    const texts = {};
    for (let size = 0; found.length && size < MAX_SENT; size += found[0]?.[2].length * 3 + 20) { const [number, , made] = found.shift(); texts[number] = made; }
    const answer = await edit({ action: "texts", texts, joins }, { quiet: true });
    if (answer.error) { show(); at("replace-problem").textContent = answer.error; return; }
    joins = true;
  }
  show();
  at("replace-problem").textContent = tr("{0} utterances changed; one undo (z) takes it back", count);
}
for (const id of ["find", "replace-with", "regex", "match-case"]) at(id).addEventListener("input", show);
dialog.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.target.matches("input[type=text]")) { event.preventDefault(); if (found.length) replace(); } });
at("replace-all").addEventListener("click", replace);
at("replace-close").addEventListener("click", () => dialog.close());
