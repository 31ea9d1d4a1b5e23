"use strict";
// The builder's form: shows the fields that count, and asks for the preview while one types.
document.addEventListener("DOMContentLoaded", () => {
  for (const field of document.querySelectorAll("[data-viewer-zone]")) {
    if (!field.value) field.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  }
  // A rule that is chosen is written at the end of the JSON array in the field that data-insert names.
  for (const choice of document.querySelectorAll("[data-insert]")) {
    choice.addEventListener("change", () => {
      const field = document.querySelector(choice.dataset.insert);
      let rules = [];
      try { rules = JSON.parse(field.value || "[]"); } catch { return; }
      if (choice.value) rules.push(JSON.parse(choice.value));
      field.value = `[\n${rules.map((rule) => `  ${JSON.stringify(rule)}`).join(",\n")}\n]`;
      choice.value = "";
    });
  }
  const form = document.querySelector("#builder");
  if (!form) return;
  const preview = document.querySelector("#preview");
  // data-when="name=a|b": shown while the field has one of these values; data-unless: while it has not.
  function arrange() {
    for (const part of form.querySelectorAll("[data-when]")) {
      const [name, values] = part.dataset.when.split("=");
      const field = form.elements[name];
      part.hidden = !field || !values.split("|").includes(field.value);
    }
    for (const part of form.querySelectorAll("[data-unless]")) {
      const [name, value] = part.dataset.unless.split("=");
      part.hidden = form.elements[name].value === value;
    }
  }

  let timer = 0;
  function ask(delay) {
    clearTimeout(timer);
    timer = setTimeout(() => preview.dispatchEvent(new Event("preview")), delay);
  }

  let mode = form.elements.mode.value;
  form.addEventListener("input", (event) => {
    if (event.target.name === "mode") {
      const built = preview.querySelector("[data-expr]")?.dataset.expr;
      if (mode === "pick" && event.target.value === "expr" && built) form.elements.cron_expr.value = built;
      mode = event.target.value;
    }
    arrange();
    ask(200);
  });
  for (const button of form.querySelectorAll("[data-days]")) {
    button.addEventListener("click", () => {
      const days = button.dataset.days.split(",");
      for (const box of form.querySelectorAll("input[name=days]")) box.checked = days.includes(box.value);
      ask(0);
    });
  }
  arrange();
  ask(0);
});
