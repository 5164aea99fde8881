// What the theme leaves out for screen readers and keyboards: names of its parts, and focus for wide tables.
function complete() {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  document.querySelectorAll("nav.md-code__nav").forEach((part, number) => part.setAttribute("aria-label", `Code ${number + 1}`));
  document.querySelectorAll(".md-nav--secondary nav").forEach((part, number) => part.setAttribute("aria-label", `Contents ${number + 1}`));
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0; else wide.removeAttribute("tabindex");
  }
}
complete();
addEventListener("resize", complete);
new MutationObserver(complete).observe(document.body, { childList: true, subtree: true });
