"use strict";
// Gives each operation a form that sends what a reader tries, with the example filled in.
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const field = (row) => {
  const { name, example } = row.dataset;
  return element("label", {}, `${name} `, element("input", { name, value: example, autocomplete: "off" }));
};
const segment = (id) => {
  if (/^[A-Za-z0-9._-]+$/.test(id)) return id;
  const bytes = String.fromCharCode(...new TextEncoder().encode(id));
  return `~${btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
};
const target = (operation, rows, form) => {
  const query = new URLSearchParams();
  let path = operation.dataset.path;
  for (const row of rows) {
    const { name } = row.dataset;
    const value = form.elements[name].value;
    if (row.dataset.in === "path") path = path.replace(`{${name}}`, segment(value));
    if (row.dataset.in === "query" && value) query.set(name, value);
  }
  return query.size ? `${path}?${query}` : path;
};
const headersOf = (rows, form, body) => {
  const token = document.getElementById("token").value;
  const headers = { ...(token && { Authorization: `Bearer ${token}` }), ...(body && { "Content-Type": body.dataset.media }) };
  for (const { dataset } of rows) {
    const { value } = form.elements[dataset.name];
    if (dataset.in === "header" && value) headers[dataset.name] = value;
  }
  return headers;
};
const shown = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};
const send = async (operation, rows, form, body, output) => {
  const { method } = operation.dataset;
  if (method === "DELETE" && !confirm("This deletes. Send it?")) return;
  output.textContent = "…";
  try {
    const asked = { method, headers: headersOf(rows, form, body), ...(body && { body: body.value }) };
    const answer = await fetch(target(operation, rows, form), asked);
    output.textContent = `${answer.status} ${answer.statusText}\n${shown(await answer.text())}`;
  } catch (error) {
    output.textContent = String(error);
  }
};
const formOf = (operation) => {
  const rows = [...operation.querySelectorAll("tr[data-in]")];
  const output = element("pre", { tabIndex: 0 });
  output.setAttribute("aria-live", "polite");
  const form = element("form", {}, ...rows.map(field));
  const { media } = operation.dataset;
  const given = operation.querySelector("template")?.content.textContent ?? "";
  const body = media && element("textarea", { value: given, ariaLabel: "Body", spellcheck: false });
  if (body) body.dataset.media = media;
  form.append(...(body ? [body] : []), element("button", {}, "Send"), output);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(operation, rows, form, body, output);
  });
  return form;
};
document.querySelector("header p[hidden]").hidden = !document.querySelector("details[data-method]");
for (const operation of document.querySelectorAll("details[data-method]")) {
  const button = element("button", { type: "button" }, "Try it");
  button.addEventListener("click", () => button.replaceWith(formOf(operation)));
  operation.append(button);
}
const open = () => {
  const named = location.hash && document.getElementById(location.hash.slice(1));
  if (named?.tagName === "DETAILS") named.open = true;
  if (named?.tagName === "LI") location.replace(named.querySelector("a").href);
};
addEventListener("hashchange", open);
open();
