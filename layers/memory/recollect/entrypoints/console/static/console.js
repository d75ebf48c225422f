"use strict";
// After a page was put in the place of another, a screen reader and the keyboard begin at it as after a load.
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target === document.body) document.getElementById("main")?.focus();
});
