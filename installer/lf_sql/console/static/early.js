"use strict";
// Runs before the first paint.
{
  // A button that is pressed before the scripts are there is pressed again when they are, if that was the
  // last that the user did: whatever he did afterwards may have been meant to go with it, or instead of it.
  let pressed = null;
  let isOver = false;
  const keep = (event) => {
    const button = event.target.closest?.("button");
    if (pressed && button !== pressed) isOver = true;
    if (!button) return;
    pressed = button;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const change = () => { isOver ||= pressed !== null; };
  const events = { click: keep, input: change, change };
  const stop = () => { for (const [name, act] of Object.entries(events)) window.removeEventListener(name, act, true); };
  for (const [name, act] of Object.entries(events)) window.addEventListener(name, act, true);
  window.pressAgain = () => {
    stop();
    if (pressed && !isOver && pressed.getClientRects().length) pressed.click();
    pressed = null;
  };
  // Where a script did not come the browser does what a button does by itself.
  window.addEventListener("load", () => setTimeout(window.pressAgain));

  // A theme that was chosen by hand, and the viewer's zone for the server.
  const chosen = localStorage.getItem("lf-sql-theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  document.cookie = `viewer_zone=${zone}; path=/; SameSite=Strict; max-age=31536000`;
}
