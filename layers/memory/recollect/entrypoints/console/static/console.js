"use strict";
// After a page was put in the place of another, a screen reader and the keyboard begin at it as after a load.
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target === document.body) (document.querySelector("[data-here]") ?? document.getElementById("main"))?.focus();
});

// Enter on a choice chooses, as Space does: it would send the form before a second one is chosen.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches?.(".choice input")) return;
  event.preventDefault();
  event.target.click();
});

// A file that is dropped, wherever on a page that takes one, is as good as one that is chosen.
const dropPlace = (event) => event.dataTransfer?.types.includes("Files") ? document.querySelector(".drop") : null;
document.addEventListener("dragover", (event) => {
  const place = dropPlace(event);
  if (place) { event.preventDefault(); place.classList.add("over"); }
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.querySelector(".drop")?.classList.remove("over");
});
document.addEventListener("drop", (event) => {
  const place = dropPlace(event);
  if (!place) return;
  event.preventDefault();
  place.classList.remove("over");
  const field = place.querySelector("input[type=file]");
  field.files = event.dataTransfer.files;
  field.dispatchEvent(new Event("change", { bubbles: true }));
});

// What becomes of an import stands below its form, also where no page came back.
const warning = (text) => {
  const told = document.createElement("p");
  told.className = "problem";
  told.setAttribute("role", "alert");
  told.textContent = text;
  return told;
};
const tell = (text) => document.getElementById("import-state")?.replaceChildren(warning(text));
document.addEventListener("too-long", ({ detail }) => {
  const main = document.getElementById("main");
  main.querySelector(":scope > .problem")?.remove();
  main.prepend(warning(detail.value));
  main.focus();
});
document.addEventListener("htmx:confirm", (event) => {
  const form = document.getElementById("import-form");
  const file = form?.querySelector("input[type=file]").files[0];
  if (event.detail.target?.id !== "import-state") return;
  if (!file || file.size <= Number(form.dataset.mostBytes)) return;
  event.preventDefault();
  tell(form.dataset.tooLarge);
});
const unanswered = (event) => {
  if (event.detail.target?.id !== "import-state") return;
  event.detail.shouldSwap = false;
  tell(document.getElementById("import-form").dataset.unanswered);
};
document.addEventListener("htmx:beforeSwap", (event) => {
  if (!event.detail.xhr.responseText.includes('id="import-said"')) unanswered(event);
});
document.addEventListener("htmx:sendError", unanswered);

// How long work stands is asked for again. What has changed alone is put in its place: focus, title, and what a screen
// reader has said already stay. Where no answer comes, that is told, and asked ten times more slowly.
const AGAIN = "[data-again]";
const askAgain = (place, times) => setTimeout(() => {
  if (document.hidden) askAgain(place, times);
  else if (place.isConnected) htmx.trigger(place, "again");
}, 1000 * times * place.dataset.again);
htmx.onLoad((root) => [root, ...root.querySelectorAll(AGAIN)].filter((one) => one.matches(AGAIN)).forEach((one) => askAgain(one, 1)));
const renew = (place, found) => {
  for (const part of found.querySelectorAll("[data-live]")) {
    const shown = document.getElementById(part.id);
    if (shown && shown.innerHTML !== part.innerHTML) shown.replaceChildren(...part.childNodes);
  }
  for (const item of [...found.querySelectorAll("li[id]")].reverse()) {
    if (document.getElementById(item.id)) continue;
    place.querySelector("ul").prepend(item);
    htmx.process(item);
  }
};
document.addEventListener("htmx:afterRequest", ({ detail: { elt: place, xhr } }) => {
  if (!place.matches(AGAIN)) return;
  const found = xhr.status === 200 && new DOMParser().parseFromString(xhr.responseText, "text/html").getElementById(place.id);
  const told = place.querySelector("[data-told]");
  const text = found ? "" : place.dataset[xhr.status === 401 ? "signedOut" : "unanswered"];
  if (told.textContent !== text) told.textContent = text;
  told.hidden = !text;
  if (found) renew(place, found);
  if (found && !found.matches(AGAIN)) place.removeAttribute("data-again");
  else askAgain(place, found ? 1 : 10);
});

// In the shell of a stack, pages are asked for with the token that this tab keeps.
document.addEventListener("DOMContentLoaded", () => {
  const pages = document.body.dataset.pages;
  if (!pages) return;
  const KEY = "recollect-token";
  const token = () => sessionStorage.getItem(KEY);
  const page = (path) => path.startsWith(pages + "/") ? path : pages + (path.replace(/^\/console/, "").replace(/^\/?(\?|$)/, "/start$1"));
  const open = () => htmx.ajax("GET", location.pathname + location.search, { target: document.body, swap: "innerHTML" });
  const signOut = () => { sessionStorage.removeItem(KEY); location.assign("/console"); };

  document.addEventListener("htmx:configRequest", (event) => {
    event.detail.path = page(event.detail.path);
    event.detail.headers["Authorization"] = "Bearer " + token();
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status !== 401 || event.detail.requestConfig.elt.matches(AGAIN)) return;
    event.preventDefault();
    signOut();
  });
  document.addEventListener("submit", (event) => {
    if (event.target.id !== "token-form") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    sessionStorage.setItem(KEY, document.getElementById("token").value.trim());
    open();
  }, true);
  document.addEventListener("click", async (event) => {
    if (event.target.closest?.("[data-sign-out]")) signOut();
    const download = event.target.closest?.("a[download]");
    if (!download) return;
    event.preventDefault();
    const answer = await fetch(page(new URL(download.href).pathname), { headers: { Authorization: "Bearer " + token() } });
    const saved = document.createElement("a");
    saved.href = URL.createObjectURL(await answer.blob());
    saved.download = download.getAttribute("download");
    saved.click();
  }, true);
  if (token()) open();
});
