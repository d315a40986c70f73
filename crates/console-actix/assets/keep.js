// Parts of a page that ask for themselves again keep their open details and the scroll positions of their tables.
(function () {
  "use strict";

  let open = [];
  let scrolled = [];

  document.addEventListener("htmx:beforeSwap", function (event) {
    const part = event.detail.target;
    open = Array.from(part.querySelectorAll("details[open][id]"), (element) => element.id);
    scrolled = Array.from(part.querySelectorAll(".scroll[id]"), (element) => [element.id, element.scrollLeft]);
  });

  document.addEventListener("htmx:afterSwap", function () {
    for (const id of open) {
      const element = document.getElementById(id);
      if (element) element.open = true;
    }
    for (const [id, left] of scrolled) {
      const element = document.getElementById(id);
      if (element) element.scrollLeft = left;
    }
  });
})();
