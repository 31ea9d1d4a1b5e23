"use strict";
// Runs before the first paint: a theme that was chosen by hand, and the viewer's zone for the server.
{
  const chosen = localStorage.getItem("lf-sql-theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  document.cookie = `viewer_zone=${zone}; path=/; SameSite=Strict; max-age=31536000`;
}
