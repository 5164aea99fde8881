// Which utterances are shown, and in which order.
import { state, onChange, changed, doubt, choose, tr } from "./state.js";
import { draw } from "./list.js";
import { element } from "./row.js";
const at = (id) => document.getElementById(id);
const controls = ["search", "kind", "who", "which", "order"].map(at);
export function filter() {
  const [search, kind, who, which, order] = controls.map((each) => each.value);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  state.shown = [];
  state.utterances.forEach((each, number) => {
    const text = `${each.text} ${each.readable} ${each.comment} ${each.speaker}`.toLowerCase();
    if (kind && !each.kinds.includes(kind)) return;
    if (who && each.speaker !== who) return;
    if (which && (which === "reviewed") !== each.reviewed) return;
    if (words.every((word) => text.includes(word))) state.shown.push(number);
  });
  if (order) {
    const rates = new Map(state.shown.map((number) => [number, doubt(state.utterances[number])]));
    state.shown.sort((a, b) => rates.get(b) - rates.get(a) || a - b);
  }
  at("found").textContent = tr("{0} of {1} utterances", state.shown.length, state.utterances.length);
}
export function fill() {
  const kinds = new Set(state.utterances.flatMap((each) => each.kinds));
  options(at("kind"), [...kinds].sort(), tr("all classes"));
  options(at("who"), Object.keys(state.participants), tr("all speakers"));
}
function options(select, values, all) {
  const chosen = select.value;
  select.replaceChildren(element("option", { text: all, value: "" }), ...values.map((value) => element("option", { text: tr(value.replaceAll("_", " ")), value })));
  select.value = values.includes(chosen) ? chosen : "";
}
let visited = [];
export function nextDoubtful(back = false) {
  if (back) { visited.pop(); if (visited.length) choose(visited.at(-1)); return; }
  if (visited.some((number) => number >= state.utterances.length)) visited = [];
  let best = -1, top = 0;
  state.utterances.forEach((each, number) => {
    const rate = visited.includes(number) || number === state.at ? 0 : doubt(each);
    if (rate > top) [best, top] = [number, rate];
  });
  if (best < 0) { visited = []; return; }
  visited.push(best);
  choose(best);
}
for (const control of controls) control.addEventListener("input", () => { filter(); changed("filter"); });
onChange((what) => { if (what === "list") { fill(); filter(); draw(true); } });
