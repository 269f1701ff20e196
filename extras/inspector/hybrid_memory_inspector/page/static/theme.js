// Light or dark, before anything is painted: what was chosen here before, else what the system asks for.
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* a browser that keeps nothing */ }
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
