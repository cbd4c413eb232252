// Before the first paint: the colours that the reader chose, else the system's.
"use strict";
(() => {
  const root = document.documentElement;
  const kept = localStorage.getItem("realtalk-theme");
  if (kept) root.dataset.theme = kept;
  const dark = () =>
    (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  window.switchTheme = () => {
    root.dataset.theme = dark() ? "light" : "dark";
    localStorage.setItem("realtalk-theme", root.dataset.theme);
  };
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-theme-switch]")) window.switchTheme();
    const opener = event.target.closest("[data-open]");
    if (opener) document.getElementById(opener.dataset.open).showModal();
  });
})();
