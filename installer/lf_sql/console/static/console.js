"use strict";
// Times in the viewer's zone, countdowns, refresh, the lost-connection banner, toasts, errors beside fields.
(() => {
  const HEAL = 1500;
  const LIVE = '[hx-trigger^="refresh"]';
  const FRESH = 500; // ms in which a click on what has just changed is not meant for it
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

  // Times
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const formats = {
    clock: new Intl.DateTimeFormat("en-GB", clock),
    day: new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" }),
    date: new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" }),
    full: new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" }),
  };

  function span(seconds) {
    const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
    let rest = Math.max(0, Math.floor(seconds));
    const parts = [];
    for (const [unit, size] of units) {
      if (rest >= size || (unit === "s" && !parts.length)) {
        parts.push(`${Math.floor(rest / size)} ${unit}`);
        rest %= size;
      }
    }
    return parts.slice(0, 2).join(" ");
  }

  const midnight = (at) => new Date(at).setHours(0, 0, 0, 0);
  const days = ["Yesterday", "Today", "Tomorrow"];
  function stamp(at, now) {
    const away = Math.round((midnight(at) - midnight(now)) / 86400000);
    const day = days[away + 1] || (Math.abs(away) < 180 ? formats.day.format(at).replace(",", "") : formats.date.format(at));
    return `${day} ${formats.clock.format(at)}`;
  }

  // The same instant on the wall of another zone; empty where the viewer's clock shows the same.
  const walls = new Map();
  function wall(at, name) {
    if (!walls.has(name)) {
      try { walls.set(name, new Intl.DateTimeFormat("en-GB", { weekday: "short", ...clock, timeZone: name })); } catch { walls.set(name, null); }
    }
    const there = walls.get(name)?.format(at).replace(",", "");
    const here = `${formats.day.format(at).slice(0, 3)} ${formats.clock.format(at)}`;
    return !there || there === here ? "" : `${there} ${name.split("/").pop().replace(/_/g, " ")}`;
  }

  function text(time, now) {
    const at = Date.parse(time.dateTime);
    const form = time.dataset.form;
    if (form === "countdown") return at > now ? `in ${span((at - now) / 1000)}` : now - at < 60000 ? "now" : `due ${span((now - at) / 1000)} ago`;
    const age = span((now - at) / 1000).split(" ").slice(0, 2).join(" ");
    if (form === "age") return age;
    if (form === "ago" && now - at < 45000) return "just now";
    if (form === "ago" && now - at < 172800000) return `${age} ago`;
    if (form === "clock") return formats.clock.format(at);
    if (form === "wall") return wall(at, time.dataset.zone);
    const said = stamp(at, now);
    return form === "inline" ? said.replace(/^(Yesterday|Today|Tomorrow)/, (day) => day.toLowerCase()) : said;
  }

  function paint(root = document) {
    const now = Date.now();
    for (const time of $$("time[data-form]", root)) {
      const wanted = text(time, now);
      if (time.textContent !== wanted) time.textContent = wanted;
      if (!time.title) time.title = `${formats.full.format(Date.parse(time.dateTime))} · ${time.dateTime.slice(0, 16).replace("T", " ")} UTC`;
    }
    for (const input of $$("input[name=viewer_zone]", root)) if (input.value !== zone) input.value = zone;
  }
  setInterval(() => { if (!document.hidden) paint(); }, 1000);

  // Refresh: what is live is asked for again while someone looks, and not while he is at work in it.
  const asked = new Set(); // requests under way that someone asked for
  function isBusy() {
    const at = document.activeElement;
    return asked.size > 0 || $("dialog[open]") || $("[data-live] details.menu[open]") || $("[data-live] input:checked") || (at && at.closest("[data-live]") && at.matches("input, select, textarea"));
  }
  function pace() { return 1000 * Math.max(...$$("[data-live]").map((part) => Number(part.dataset.pace)), $("[data-live]") ? 0 : Infinity); }
  let last = Date.now();
  function refresh() { last = Date.now(); document.body.dispatchEvent(new Event("refresh")); }
  setInterval(() => {
    if (!document.hidden && !lost && Date.now() - last >= pace() && !isBusy()) refresh();
  }, 1000);
  // A refresh that is under way when someone asks for something would bring what was before.
  const isRefresh = (event) => event.detail.ctx.sourceElement.matches(LIVE);
  document.addEventListener("htmx:before:request", (event) => {
    if (isRefresh(event)) return;
    asked.add(event.detail.ctx);
    for (const part of $$(LIVE)) part.dispatchEvent(new Event("htmx:abort"));
  });
  // A request that its asker has not confirmed ends as well, and was never under way.
  document.addEventListener("htmx:finally:request", (event) => asked.delete(event.detail.ctx));
  document.addEventListener("visibilitychange", () => { if (!document.hidden && Date.now() - last > pace() && !isBusy()) refresh(); });

  // A lost connection: a banner until the server answers again.
  let lost = false;
  function lose() {
    if (lost) return;
    lost = true;
    $("#banner").hidden = false;
    document.body.classList.add("lost");
    setTimeout(heal, HEAL);
  }
  async function heal() {
    let status = 0;
    try { status = (await fetch("/ping", { cache: "no-store" })).status; } catch { status = 0; }
    if (status === 0 || status === 503) { setTimeout(heal, HEAL); return; }
    lost = false;
    $("#banner").hidden = true;
    document.body.classList.remove("lost");
    if (status === 401 || $("[data-gone]")) location.reload(); else refresh();
  }
  document.addEventListener("htmx:after:request", (event) => { if (event.detail.ctx?.response?.status === 503) lose(); });
  document.addEventListener("htmx:error", (event) => { if (event.detail.ctx && !event.detail.ctx.response) lose(); });

  // What a swap has changed is fresh for half a second: a click that was on its way to what stood there
  // before is not taken for one on what stands there now.
  const watcher = new MutationObserver(freshen);
  function freshen(records) {
    for (const { type, target, attributeName } of records) {
      const element = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement;
      if (!element || element.closest("time, input, textarea")) continue;
      if (type === "attributes" && (!element.matches("a, button, summary, form") || ["class", "title"].includes(attributeName))) continue;
      const unit = element.closest("tr, li, [data-unit], [data-live]");
      if (!unit) continue;
      unit.classList.add("fresh");
      clearTimeout(unit.freshness);
      unit.freshness = setTimeout(() => unit.classList.remove("fresh"), FRESH);
    }
  }
  document.addEventListener("htmx:before:swap", () => {
    watcher.observe($("#main"), { subtree: true, childList: true, characterData: true, attributes: true });
  });
  document.addEventListener("htmx:after:swap", () => {
    freshen(watcher.takeRecords());
    watcher.disconnect();
  });
  window.addEventListener("click", (event) => {
    if (event.target.closest?.(".fresh")) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);

  // A timeline that is wider than the window begins where now is.
  function toNow() {
    const line = $(".line .now"), box = line?.closest(".scroll");
    if (box && box.scrollWidth > box.clientWidth) box.scrollLeft += line.getBoundingClientRect().left - box.getBoundingClientRect().right + box.clientWidth / 4;
  }

  // Answers of the server
  function toast({ message, hint, tone = "good", undo, link }) {
    const box = document.createElement("div");
    box.className = `toast ${tone}`;
    box.append(Object.assign(document.createElement("b"), { textContent: message }));
    if (hint) box.append(Object.assign(document.createElement("p"), { textContent: hint }));
    if (link) box.append(Object.assign(document.createElement("a"), { textContent: link.text, href: link.url }));
    if (undo) {
      const button = Object.assign(document.createElement("button"), { textContent: "Undo", type: "button", className: "button small" });
      button.setAttribute("hx-post", undo.url);
      button.setAttribute("hx-vals", JSON.stringify(undo.values));
      button.setAttribute("hx-swap", "none");
      box.append(button);
      button.addEventListener("htmx:finally:request", () => box.remove()); // not before its events have gone up
    }
    box.addEventListener("click", (event) => { if (!event.target.closest("a, button")) box.remove(); });
    $("#toasts").append(box);
    if (undo) htmx.process(box);
    let timer = 0;
    const leave = () => { timer = setTimeout(() => box.remove(), tone === "bad" || undo || link ? 12000 : 4000); };
    box.addEventListener("mouseenter", () => clearTimeout(timer));
    box.addEventListener("mouseleave", leave);
    leave();
    while ($("#toasts").children.length > 4) $("#toasts").firstElementChild.remove();
  }

  // An error stays until its field is changed, or whoever found it finds it no more.
  function clearErrors(form, finder) {
    for (const slot of $$("[data-error]", form)) {
      if (finder && slot.finder !== finder) continue;
      slot.hidden = true;
      slot.textContent = "";
      for (const input of $$("[aria-invalid]", slot.closest("[data-field]") || form)) input.removeAttribute("aria-invalid");
    }
  }
  document.addEventListener("input", (event) => {
    const field = event.target.closest("[data-field]");
    if (field && !field.classList.contains("policy")) clearErrors(field);
  });

  function shown(element) { return element.getClientRects().length > 0 || !element.parentElement.closest("[hidden]"); }

  function refused({ message, hint, field }, source) {
    const form = source.closest("form") || (source.getAttribute("hx-include") && $(source.getAttribute("hx-include")));
    const slots = form ? $$("[data-error]", form).filter(shown) : [];
    // retry_policy.maxRetries stands there, or else at retry_policy; what is of no field, at the form.
    let slot;
    for (let path = field; path && !slot; path = path.replace(/(^|\.|\[)[^.[]*$/, "")) slot = slots.find((each) => each.dataset.error.split(" ").includes(path));
    slot ??= slots.find((each) => each.dataset.error === "");
    if (!slot) { toast({ message, hint, tone: "bad" }); return; }
    clearErrors(form);
    source.classList.add("stale");
    slot.finder = source;
    slot.textContent = message;
    if (hint) slot.append(Object.assign(document.createElement("span"), { textContent: hint }));
    slot.hidden = false;
    for (let fold = slot.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    const input = slot.closest("[data-field]")?.querySelector("input, select, textarea");
    if (input) {
      input.setAttribute("aria-invalid", "true");
      if (form === source) input.focus();
    } else if (form === source) slot.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("toast", (event) => toast(event.detail));
  document.addEventListener("refused", (event) => refused(event.detail, event.target));
  document.addEventListener("htmx:after:request", (event) => {
    const { ctx } = event.detail, form = ctx.sourceElement.closest("form");
    if (form && ctx.response?.status < 300) {
      clearErrors(form, ctx.sourceElement === form ? null : ctx.sourceElement);
      ctx.sourceElement.classList.remove("stale");
      if (form.hasAttribute("data-reset") && ctx.sourceElement === form) form.reset();
      for (const menu of $$("details.menu[open]")) menu.open = false;
    }
  });
  document.addEventListener("htmx:after:swap", (event) => { last = Date.now(); paint(event.target.parentElement || document); count(); });

  // Confirmation
  document.addEventListener("htmx:confirm", (event) => {
    const { ctx, issueRequest, dropRequest } = event.detail;
    event.preventDefault();
    const dialog = $("#confirm");
    $("#confirm-text").textContent = ctx.confirm;
    const yes = $("#confirm-yes"), word = ctx.sourceElement.dataset.yes || ctx.sourceElement.title || "Yes";
    yes.textContent = word;
    yes.className = `button ${/^(Delete|Cancel|Reject)/.test(word) ? "danger" : "primary"}`;
    dialog.returnValue = "no";
    dialog.addEventListener("close", () => (dialog.returnValue === "yes" ? issueRequest() : dropRequest()), { once: true });
    dialog.showModal();
  });

  // Boxes that pick many: one picks all, and a line says how many.
  function count() {
    for (const tally of $$("[data-tally]")) {
      const boxes = $$(`input[name=${tally.dataset.tally}]`);
      const picked = boxes.filter((box) => box.checked).length;
      const words = picked ? `${picked} of ${boxes.length} picked` : tally.dataset.none;
      if (tally.textContent !== words) tally.textContent = words;
      for (const button of $$(`[data-needs=${tally.dataset.tally}]`)) button.disabled = picked === 0;
      const all = $(`[data-all=${tally.dataset.tally}]`);
      if (all) { all.checked = picked > 0 && picked === boxes.length; all.indeterminate = picked > 0 && picked < boxes.length; }
    }
  }
  document.addEventListener("change", (event) => {
    const name = event.target.dataset.all;
    if (name) for (const box of $$(`input[name=${name}]`)) box.checked = event.target.checked;
    count();
  });

  // Menus close when one clicks beside them or presses Escape.
  document.addEventListener("click", (event) => {
    for (const menu of $$("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
    const closer = event.target.closest("[data-close]");
    if (closer) closer.closest("dialog").close();
    const opener = event.target.closest("[data-open]");
    if (opener) $(opener.dataset.open).showModal();
  });
  // Why: the answer about a slot, shown over the page that it is asked from.
  document.addEventListener("click", (event) => {
    const asked = event.target.closest("a[data-why]");
    if (!asked || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    why(asked.getAttribute("href"));
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-why]")) return;
    event.preventDefault();
    why(`${event.target.getAttribute("action")}?${new URLSearchParams(new FormData(event.target))}`);
  });
  async function why(url) {
    await htmx.ajax("GET", url, { target: "#why-text", swap: "innerHTML" });
    if ($("#why .answer") && !$("#why").open) $("#why").showModal();
  }

  // What was typed into a filter before the scripts were there.
  function catchUp() {
    const changed = (field) => (field.options ? !field.selectedOptions[0].defaultSelected && field.selectedIndex > 0 : field.value !== field.defaultValue);
    const field = $$("#filter input:not([type=hidden]), #filter select").find(changed);
    for (const type of field ? ["input", "change"] : []) field.dispatchEvent(new Event(type, { bubbles: true }));
  }
  document.addEventListener("htmx:after:init", (event) => { if (event.target.matches?.("#filter")) catchUp(); });
  catchUp();

  document.addEventListener("DOMContentLoaded", () => {
    $("#zone").textContent = zone.replace(/_/g, " ");
    $("#theme").addEventListener("click", () => {
      const root = document.documentElement;
      const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = isDark ? "light" : "dark";
      localStorage.setItem("lf-sql-theme", root.dataset.theme);
    });
    $("#why").addEventListener("close", () => $("#why-text").replaceChildren());
    paint();
    count();
    toNow();
    if ($("[data-gone]")) lose();
    setTimeout(pressAgain); // htmx begins in a timer of its own, which is set before this one
  });
})();
