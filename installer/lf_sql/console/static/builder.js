"use strict";
// The builder's form: shows the fields that count, and asks for the preview while one types.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("#builder");
  if (!form) return;
  const preview = document.querySelector("#preview");
  const zone = form.elements.timezone;
  if (!zone.value) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

  // data-when="name=a|b": shown while the field has one of these values.
  function arrange() {
    for (const part of form.querySelectorAll("[data-when]")) {
      const [name, values] = part.dataset.when.split("=");
      const field = form.elements[name];
      part.hidden = !field || !values.split("|").includes(field.value);
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
