"use strict";
// Sorting, hiding lines and showing values: the page is complete without it.
(() => {
  const sortKey = (row, index, numeric) => {
    const cell = row.cells[index];
    if (!numeric) return cell.textContent.trim();
    const value = cell.dataset.value;
    return value === undefined ? null : Number(value);
  };

  const sortBy = (heading) => {
    const table = heading.closest("table");
    const index = heading.cellIndex;
    const numeric = heading.classList.contains("number");
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentElement.cells) other.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => [sortKey(row, index, numeric), row]);
    rows.sort(([a], [b]) => {
      // What has no value stays last, whichever way the rest is sorted.
      if (a === null || b === null) return (a === null) - (b === null);
      const order = numeric ? a - b : a.localeCompare(b, "en", { numeric: true });
      return down ? -order : order;
    });
    body.append(...rows.map(([, row]) => row));
  };

  const toggle = (button) => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    const lines = button.closest(".chart-box").querySelectorAll(`g[data-series="${button.dataset.series}"]`);
    for (const line of lines) line.classList.toggle("off", !on);
  };

  document.addEventListener("click", (event) => {
    const heading = event.target.closest("thead th button");
    if (heading) sortBy(heading.closest("th"));
    const series = event.target.closest(".legend button");
    if (series) toggle(series);
  });

  // Titles do not show on touch screens and come late elsewhere: a tip of our own takes their place.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  for (const point of document.querySelectorAll(".point")) {
    const title = point.querySelector("title");
    point.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  const show = (event) => {
    const point = event.target.closest && event.target.closest(".point");
    tip.hidden = !point;
    if (!point) return;
    tip.textContent = point.getAttribute("aria-label");
    const box = point.getBoundingClientRect();
    const left = box.left + box.width / 2 - tip.offsetWidth / 2;
    tip.style.left = `${Math.max(4, Math.min(left, document.documentElement.clientWidth - tip.offsetWidth - 4))}px`;
    const above = box.top - tip.offsetHeight - 4;
    tip.style.top = `${above > 4 ? above : box.bottom + 4}px`;
  };
  document.addEventListener("pointerover", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
})();
