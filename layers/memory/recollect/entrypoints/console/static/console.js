"use strict";
// After a page was put in the place of another, a screen reader and the keyboard begin at it as after a load.
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target === document.body) document.getElementById("main")?.focus();
});
// A file that is dropped is as good as one that is chosen.
document.addEventListener("dragover", (event) => {
  const place = event.target.closest?.(".drop");
  if (place) { event.preventDefault(); place.classList.add("over"); }
});
document.addEventListener("dragleave", (event) => event.target.closest?.(".drop")?.classList.remove("over"));
document.addEventListener("drop", (event) => {
  const place = event.target.closest?.(".drop");
  if (!place) return;
  event.preventDefault();
  place.classList.remove("over");
  place.querySelector("input[type=file]").files = event.dataTransfer.files;
});
