"use strict";
// The keyboard: rows by j and k, their actions by p and r, the filter by /, help by ?, the palette by Ctrl-K.
(() => {
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

  const rows = () => $$("[data-row]").filter((row) => row.getClientRects().length > 0);
  const current = () => document.activeElement?.closest("[data-row]");

  function step(by) {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(current());
    const row = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
    ($("a[href]", row) || row).focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  // The button of the row in hand, or the page's own.
  function press(key) {
    const found = $$(`[data-key=${key}]`, current() || $("#main"));
    found.find((each) => current() || !each.closest("[data-row]"))?.click();
  }

  const keys = {
    j: () => step(1),
    k: () => step(-1),
    p: () => press("p"),
    r: () => press("r"),
    "/": () => $("input[type=search]", $("#main"))?.focus(),
    "?": () => $("#keys").showModal(),
  };

  // The palette: every page, and what the page in view lists.
  function offers(words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (text) => wanted.every((word) => text.toLowerCase().includes(word));
    const links = [...$$("header a[href]"), ...$$("#main [data-row] a.strong[href]")];
    return links.filter((link) => fits(link.textContent.trim() || link.title)).slice(0, 12);
  }

  function fill() {
    const input = $("#palette input"), list = $("#palette ul");
    const items = offers(input.value).map((link) => {
      const item = document.createElement("li");
      item.append(Object.assign(document.createElement("a"), { href: link.href, textContent: link.textContent.trim() }));
      return item;
    });
    if (input.value.trim()) {
      const item = document.createElement("li");
      item.append(Object.assign(document.createElement("a"), { href: `/?q=${encodeURIComponent(input.value.trim())}`, textContent: `Find schedules: ${input.value.trim()}` }));
      items.push(item);
    }
    list.replaceChildren(...items);
  }

  function open() {
    $("#palette input").value = "";
    fill();
    $("#palette").showModal();
  }

  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); if (!$("dialog[open]")) open(); return; }
    if (event.key === "Escape") for (const menu of $$("details.menu[open]")) { menu.open = false; $("summary", menu).focus(); }
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat && !"jk".includes(event.key)) return;
    if ($("dialog[open]") || event.target.matches("input:not([type=checkbox]), select, textarea")) return;
    const act = keys[event.key];
    if (act) { event.preventDefault(); act(); }
  });

  document.addEventListener("DOMContentLoaded", () => {
    const palette = $("#palette");
    $("input", palette).addEventListener("input", fill);
    palette.addEventListener("keydown", (event) => {
      const links = $$("a", palette), at = links.indexOf(document.activeElement);
      if (event.key === "ArrowDown") { event.preventDefault(); (links[at + 1] || links[0])?.focus(); }
      if (event.key === "ArrowUp") { event.preventDefault(); (at > 0 ? links[at - 1] : $("input", palette)).focus(); }
      if (event.key === "Enter" && at < 0) { event.preventDefault(); links[0]?.click(); }
    });
  });
})();
