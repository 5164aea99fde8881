// Elements of an utterance; text is always set as text, never as markup.
import { state, clock, tr } from "./state.js";
import { gapBefore } from "./gaps.js";
export function element(name, { text = "", cls = "", ...attributes } = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  if (cls) made.className = cls;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
export function doubtClass(confidence) {
  if (confidence === null || confidence >= state.flagBelow) return "";
  return confidence >= 0.7 ? "doubt1" : confidence >= 0.4 ? "doubt2" : "doubt3";
}
function speakerClass(code) {
  return `speaker${Math.max(0, Object.keys(state.participants).indexOf(code)) % 6}`;
}
export function pieces(utterance) {
  const made = [];
  let at = 0;
  utterance.words.forEach(([start, end, confidence], number) => {
    if (start > at) made.push({ text: utterance.text.slice(at, start), word: -1, confidence: null });
    made.push({ text: utterance.text.slice(start, end), word: number, confidence });
    at = end;
  });
  made.push({ text: utterance.text.slice(at), word: -1, confidence: null });
  return made;
}
export function row(utterance, number, place, total, chosen) {
  const made = element("div", { cls: `utterance ${speakerClass(utterance.speaker)}`, role: "option", id: `u${number}`, "aria-selected": chosen, "aria-posinset": place + 1, "aria-setsize": total });
  made.append(element("p", { cls: "head", text: `${number + 1}  ${clock(utterance.start_ms)}  ${utterance.speaker}  ${gapBefore(number) ? tr("⚠ before it speech and too few words (G)") : ""}  ${utterance.reviewed ? tr("✓ reviewed") : ""}  ${utterance.comment}` }));
  const text = element("p", { dir: "auto" });
  for (const piece of pieces(utterance)) text.append(element("span", { text: piece.text, cls: doubtClass(piece.confidence) }));
  made.append(text);
  return made;
}
