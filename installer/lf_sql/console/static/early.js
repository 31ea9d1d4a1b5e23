"use strict";
// Runs before the first paint: a theme that was chosen by hand, and the viewer's zone for the server.
{
  const chosen = localStorage.getItem("lf-sql-theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  document.cookie = `viewer_zone=${zone}; path=/; SameSite=Strict; max-age=31536000`;

  // A button that is pressed before the scripts are there is pressed again when they are.
  let pressed = null;
  const keep = (event) => {
    const button = event.target.closest?.("button");
    if (!button) return;
    pressed = button;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  window.addEventListener("click", keep, true);
  window.pressAgain = () => {
    window.removeEventListener("click", keep, true);
    if (pressed?.isConnected) pressed.click();
  };
}
