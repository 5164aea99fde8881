// Two transcripts side by side: differences marked, an utterance of the right one can be taken.
import { state, choose, onChange, tr, decimal } from "./state.js";
import { get, edit, say, answered, inTurn } from "./server.js";
import { element } from "./row.js";
import { play, isPlaying, stop } from "./player.js";
import { keyOf } from "./typing.js";
const at = (id) => document.getElementById(id), pairs = at("pairs");
let rows = [], chosen = 0, back = () => {}, refreshed = Promise.resolve();
export function comparing() { return !at("comparison").hidden; }
export async function openComparison(leave) {
  back = leave;
  await answered();
  try { await refresh(); } catch (error) { say(error.message); return; }
  at("review").hidden = true; at("comparison").hidden = false;
  pairs.focus();
}
async function refresh() {
  const found = await get(`comparison?file=${state.file}`);
  rows = found.rows;
  const words = found.words;
  at("agreement").textContent = words ? tr("Agreement of words: {0} % ({1} words left, {2} right)", (100 * words.agreement).toFixed(1), words.left, words.right) + range(words) + (words.kappa === null ? "" : tr("; Cohen's kappa by word {0}", words.kappa.toFixed(2))) : tr("no words");
  for (const [side, id] of ["left-name", "right-name"].entries()) at(id).value ||= found.names[side];
  at("unsettled").textContent = tr("{0} of {1} pairs differ", rows.filter(differs).length, rows.length);
  at("classes").replaceChildren(...Object.entries(found.classes).map(([kind, each]) => {
    const row = element("tr");
    row.append(element("th", { text: tr(kind.replaceAll("_", " ")), scope: "row", cls: "name" }), element("td", { text: each.left }), element("td", { text: each.right }), element("td", { text: each.agreement === null ? "-" : `${decimal((100 * each.agreement).toFixed(1))} %`, "data-range": range(each) }));
    return row;
  }));
  draw();
}
function range({ interval }) { return interval ? tr(", 95 % interval {0} to {1} %", (100 * interval[0]).toFixed(1), (100 * interval[1]).toFixed(1)) : ""; }
async function settle() {
  const found = await edit({ action: "settled", left_name: at("left-name").value, right_name: at("right-name").value });
  if (!found.error) say(tr("Both names and the agreement are in the header."));
}
at("settle").addEventListener("click", settle);
function otherSpeaker(row) { return row.left !== null && row.right !== null && row.speakers[0] !== row.speakers[1]; }
function differs(row) { return row.changed.length > 0 || row.left === null || row.right === null || otherSpeaker(row); }
function side(row, which) {
  const made = element("p", { dir: "auto" }); // which passes over what has a direction of its own
  const speaker = row.speakers[which];
  made.append(element("b", { dir: "ltr", text: speaker ?? "-", cls: otherSpeaker(row) ? "changed" : "" }), " ");
  row.words[which].forEach((word, number) => {
    const different = row.changed.some((part) => number >= part[which][0] && number < part[which][1]);
    made.append(element("span", { text: word, cls: different ? "changed" : "" }), " ");
  });
  return made;
}
function draw() {
  pairs.replaceChildren(...rows.map((row, number) => {
    const made = element("div", { cls: "pair", role: "option", id: `p${number}`, "aria-selected": number === chosen });
    made.append(side(row, 0), side(row, 1));
    made.addEventListener("click", () => { chosen = number; mark(); });
    return made;
  }));
  mark();
}
function mark() {
  for (const made of pairs.children) made.setAttribute("aria-selected", String(made.id === `p${chosen}`));
  const here = at(`p${chosen}`);
  if (!here) return;
  pairs.setAttribute("aria-activedescendant", here.id);
  here.scrollIntoView({ block: "nearest" });
}
function next() {
  const found = rows.findIndex((row, number) => number > chosen && differs(row));
  if (found >= 0) { chosen = found; mark(); }
}
function place(number) { return 1 + Math.max(-1, ...rows.slice(0, number).map((row) => row.left ?? -1)); }
async function takeRight() {
  const row = rows[chosen];
  if (!row) return;
  if (row.right === null) await edit({ action: "delete", number: row.left });
  else if (row.left === null) await edit({ action: "take", number: place(chosen), other: row.right, insert: true });
  else await edit({ action: "take", number: row.left, other: row.right });
}
function leave() {
  at("comparison").hidden = true; at("review").hidden = false;
  if (rows[chosen]?.left !== null) choose(rows[chosen]?.left ?? 0);
  back();
}
const KEYS = {
  ArrowDown: () => { chosen = Math.min(rows.length - 1, chosen + 1); mark(); },
  ArrowUp: () => { chosen = Math.max(0, chosen - 1); mark(); },
  ArrowRight: takeRight, ArrowLeft: next, n: next,
  z: () => edit({ action: "undo" }), Z: () => edit({ action: "redo" }),
  " ": playPair, Escape: leave,
};
// Each key works on the rows that the last one left: an edit asks for them again.
async function press(key) {
  try { await KEYS[key](); await refreshed; } catch (error) { say(error.message); }
}
export function compareKey(event) {
  const key = keyOf(event);
  if (!KEYS[key]) return undefined;
  event.preventDefault();
  return press(key);
}
for (const button of document.querySelectorAll("#comparing button")) button.addEventListener("click", () => { inTurn(() => press(button.dataset.key)); pairs.focus(); });
function playPair() {
  if (isPlaying()) { stop(); return; }
  const each = state.utterances[rows[chosen]?.left ?? -1];
  if (each && each.start_ms !== null) play(each.start_ms, each.end_ms);
}
onChange((what) => { if (comparing() && ["text", "list"].includes(what)) refreshed = refresh(); });
