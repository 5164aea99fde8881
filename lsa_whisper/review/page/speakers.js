// The speakers: one is added, described otherwise, renamed, or gives all utterances to another.
import { state, current, onChange, tr } from "./state.js";
import { edit } from "./server.js";
import { element } from "./row.js";
const at = (id) => document.getElementById(id), dialog = at("speakers"), person = at("person");
const roles = JSON.parse(dialog.dataset.roles), fields = ["new", "role", "name", "age", "sex"];
export function openSpeakers() { fill(current()?.speaker ?? ""); dialog.showModal(); at("person-new").select(); }
function fill(code) {
  const codes = Object.keys(state.participants);
  person.replaceChildren(...codes.map((each) => element("option", { text: each, value: each })), element("option", { text: tr("new speaker"), value: "" }));
  person.value = codes.includes(code) ? code : "";
  show();
}
function show() {
  const known = state.participants[person.value];
  const values = known ? { new: person.value, ...known } : { new: "", role: "Participant", name: "", age: "", sex: "" };
  for (const name of fields) at(`person-${name}`).value = values[name];
  const others = Object.keys(state.participants).filter((each) => each !== person.value);
  at("person-into").replaceChildren(...others.map((each) => element("option", { text: each, value: each })));
  at("merging").hidden = !known || !others.length;
  at("person-problem").textContent = "";
}
async function send(body, code) {
  const values = fields.map((name) => at(`person-${name}`).value), found = await edit(body, { quiet: true });
  if (!found.error) fill(code);
  else fields.forEach((name, place) => { at(`person-${name}`).value = values[place]; });  // also when all was loaded again
  at("person-problem").textContent = found.error ?? `${Object.keys(state.participants).join(", ")}: ${tr("saved")}`;
}
function save() {
  const values = Object.fromEntries(fields.map((name) => [name, at(`person-${name}`).value]));
  send({ action: "person", code: person.value, ...values }, values.new);
}
person.addEventListener("change", show);
at("person-new").addEventListener("input", () => {
  at("person-new").value = at("person-new").value.toUpperCase();
  const role = roles[at("person-new").value];
  if (role) at("person-role").value = role;
});
dialog.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.target.matches("input")) { event.preventDefault(); save(); } });
at("person-save").addEventListener("click", save);
at("person-merge").addEventListener("click", () => send({ action: "merge", code: person.value, into: at("person-into").value }, at("person-into").value));
at("speakers-close").addEventListener("click", () => dialog.close());
at("speakers-button").addEventListener("click", openSpeakers);
onChange((what) => { if (what === "list" && dialog.open) fill(person.value); });
