// The list of utterances: only the rows that can be seen are drawn.
import { state, onChange, choose } from "./state.js";
import { row } from "./row.js";
const HEIGHT = 58, SPARE = 6;
const list = document.getElementById("list"), rows = document.getElementById("rows");
let drawn = "";
export function draw(force = false) {
  const total = state.shown.length;
  rows.style.height = `${total * HEIGHT}px`;
  const from = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - SPARE);
  const to = Math.min(total, Math.ceil((list.scrollTop + list.clientHeight) / HEIGHT) + SPARE);
  const key = `${from} ${to} ${total}`;
  if (key === drawn && !force) return;
  drawn = key;
  const made = [];
  for (let place = from; place < to; place += 1) {
    const number = state.shown[place];
    const one = row(state.utterances[number], number, place, total, number === state.at);
    one.style.top = `${place * HEIGHT}px`;
    made.push(one);
  }
  rows.replaceChildren(...made);
  list.setAttribute("aria-activedescendant", document.getElementById(`u${state.at}`) ? `u${state.at}` : "");
  if (!list.getAttribute("aria-activedescendant")) list.removeAttribute("aria-activedescendant");
}
function reveal() {
  const place = state.shown.indexOf(state.at);
  if (place < 0) return;
  const top = place * HEIGHT;
  if (top < list.scrollTop || top + HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = Math.max(0, top - list.clientHeight / 3);
}
export function step(by) {
  const place = state.shown.indexOf(state.at);
  const next = place < 0 ? state.shown.findIndex((number) => number >= state.at) : place + by;
  if (state.shown[next] !== undefined) choose(state.shown[next]);
}
list.addEventListener("scroll", () => requestAnimationFrame(() => draw()));
list.addEventListener("click", (event) => {
  const found = event.target.closest(".utterance");
  if (found) choose(Number(found.id.slice(1)));
});
// After a change of the list, the filters choose anew what is shown, then draw.
onChange((what) => { if (what === "choice") reveal(); if (!["words", "progress", "list"].includes(what)) draw(true); });
new ResizeObserver(() => draw()).observe(list);
