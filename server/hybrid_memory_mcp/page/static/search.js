// Search: a date or a number is sent when it is whole, words are sent as they are typed.

for (const form of document.querySelectorAll("form.filters")) {
  form.addEventListener("input", (event) => {
    if (event.target.matches("[data-whole]")) event.stopImmediatePropagation();
  }, true);
}
