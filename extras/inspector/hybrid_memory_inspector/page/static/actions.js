// What a person does to memories: the buttons of cards, the dialogs that ask for words, and the bar for many at once.
// The buttons are forms (`actions.html.j2`), so all but the dialogs works without this file too.
import { el, fetchJson, item, meant, on, refresh, say, tell, toast, url } from "./core.js";
import { singleKeys } from "./keys.js";

/** @type {Set<string>} */
const chosen = new Set();
let last = null; // the checkbox that was pressed last, for a range

/**
 * Do something to memories, and offer to undo it.
 * @param {string} verb
 * @param {Record<string, any>} body
 */
export async function act(verb, body) {
  const done = await fetchJson(url(`/actions/${verb}`), { method: "POST", body });
  const held = (done.held ?? []).length ? " Another one has the place of some." : "";
  const back = (done.revived ?? []).length ? " What it had replaced is current again." : "";
  toast(done.done + held + back, { undo: done.undo ?? undefined });
  say(done.done);
  if (!["pin", "unpin", "edit"].includes(verb)) clear();
  await settle(verb, body.ids ?? []);
  return done;
}

/** Let the page show what is so now: at once what was acted on, then what follows events. */
async function settle(verb, ids) {
  const gone = ["confirm", "forget", "untrue", "ended", "purge", "judge"].includes(verb);
  for (const card of document.querySelectorAll("[data-queue] [data-item][data-id]")) {
    if (gone && ids.includes(card.dataset.id)) leave(card);
  }
  tell("change", {});
  const results = document.getElementById("results");
  if (results && !results.closest("[data-live]")) await refresh(results).catch(() => {});
}

let wanted = ""; // the id of the memory that the keyboard goes on with when the page has been drawn anew

/** Take a card out of a queue; the keyboard goes on with the next one. */
function leave(card) {
  if (card.contains(document.activeElement)) {
    next(card);
    wanted = item()?.dataset.id ?? "";
  }
  card.classList.add("is-leaving");
  card.removeAttribute("data-item");
}

/** Move the keyboard to the card behind one, or before it at the end of the queue. @param {HTMLElement | null} card */
function next(card) {
  const all = [...document.querySelectorAll("[data-queue] [data-item][data-id]:not(.is-leaving)")];
  const to = all[all.indexOf(card) + 1] ?? all[all.indexOf(card) - 1]; // the first, where none is in hand
  if (!to || to === card) return;
  to.setAttribute("tabindex", "0");
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: "nearest" });
}

// --- dialogs ----------------------------------------------------------------------------------------------------------

/**
 * Ask for something in a dialog. `send` gets the form's values; what it rejects with is shown in the dialog.
 * @param {string} title
 * @param {(Node | null)[]} content
 * @param {string} label of the button
 * @param {(values: FormData) => Promise<any>} send
 * @param {string} [tone]
 */
function ask(title, content, label, send, tone = "primary") {
  const problem = el("p", { class: "dialog-problem", role: "alert" });
  const button = el("button", { class: `button ${tone}` }, label);
  const form = el("form", { method: "dialog" }, el("h2", { id: "asked-title" }, title), ...content, problem,
    el("div", { class: "dialog-buttons" }, el("button", { class: "button quiet", type: "button", "data-close": true }, "Cancel"), button));
  const dialog = el("dialog", { class: "ask", "aria-labelledby": "asked-title" }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    problem.textContent = "";
    try {
      await send(new FormData(form));
      dialog.close();
    } catch (error) {
      problem.textContent = error.message;
    } finally {
      button.disabled = false;
    }
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
  });
  const before = document.activeElement;
  dialog.addEventListener("close", () => { dialog.remove(); before?.isConnected && before.focus?.(); });
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector("textarea, input")?.focus();
  return dialog;
}

/** Make a field for a text of several lines. @param {string} name @param {string} label @param {string} value @param {{rows?: number, hint?: string}} [options] */
function area(name, label, value, { rows = 5, hint = "" } = {}) {
  const field = el("textarea", { name, rows, dir: "auto", required: true, spellcheck: "true" });
  field.value = value;
  return el("label", { class: "field" }, el("span", {}, label), field, hint ? el("small", {}, hint) : null);
}

const MASK = "[secret: ";

/** Ask for one memory; `more` are parameters of its address. @param {string} id @param {Record<string, string>} [more] */
async function memoryOf(id, more = {}) {
  return (await fetchJson(url(`/memories/${encodeURIComponent(id)}.json`, more))).memory;
}

/** What a text with masked secrets needs to be told of before it is changed. */
function masked(id, memory, again) {
  if (!memory.content.includes(MASK) || new URLSearchParams(location.search).get("reveal")) return null;
  const show = el("button", { type: "button", class: "button small quiet", onclick: (event) => { event.target.closest("dialog").close(); again(id, { reveal: "1" }); } }, "Show it");
  return el("p", { class: "notice tone-warn" }, "A secret stands in this text, masked. The new words hold only what you see; the former version still holds the secret. ", show);
}

/** Ask for what is right instead of a text; of several that say it in the same words one is made. @param {string} id @param {Record<string, string>} [more] @param {string[]} [all] */
async function edit(id, more = {}, all = [id]) {
  const memory = await memoryOf(id, more);
  const tags = el("input", { name: "tags", value: (memory.tags ?? []).join(", "), autocomplete: "off", dir: "auto" });
  ask("Correct", [
    more.reveal ? null : masked(id, memory, edit),
    area("text", "What is right", memory.content, { hint: "What it says now is kept as an older version. Ctrl+Enter saves." }),
    el("label", { class: "field" }, el("span", {}, "Tags, with commas between"), tags),
  ], "Save", (values) => {
    if (all.length > 1) return act("merge", { ids: all, text: values.get("text") });
    const body = { ids: [id] };
    if (values.get("text") !== memory.content) body.text = values.get("text");
    if (values.get("tags") !== (memory.tags ?? []).join(", ")) body.tags = values.get("tags");
    if (!("text" in body) && !("tags" in body)) throw new Error("Nothing was changed yet.");
    return act("edit", body);
  });
}

/** Ask for the statements that a text consists of. @param {string} id @param {Record<string, string>} [more] */
async function split(id, more = {}) {
  const memory = await memoryOf(id, more);
  const sentences = memory.content.replace(/([.!?。！？])\s+/gu, "$1\n").replace(/[。！？](?=\S)/gu, "$&\n");
  ask("Split into several", [
    more.reveal ? null : masked(id, memory, split),
    area("parts", "One statement on each line", sentences, { rows: 8, hint: "Each stands on its own from then on; the whole is kept as an older version." }),
  ], "Split", (values) => act("split", { ids: [id], parts: String(values.get("parts")).split("\n").map((one) => one.trim()).filter(Boolean) }));
}

/** Ask for one text instead of several. @param {string[]} ids */
async function merge(ids) {
  if (ids.length < 2) throw new Error("Select two memories at least; they become one.");
  if (ids.length > 50) throw new Error("At most 50 memories become one.");
  const memories = [];
  for (const id of ids) memories.push(await memoryOf(id));
  const holds = memories.find((one) => one.content.includes(MASK));
  ask(`Say ${ids.length} memories in one`, [
    holds ? masked(holds.id, holds, () => { location.search = `${location.search}${location.search ? "&" : "?"}reveal=1`; }) : null,
    area("text", "In these words", memories.map((one) => one.content).join("\n"), { rows: 8, hint: "All of them are kept as older versions." }),
  ], "Merge", (values) => act("merge", { ids, text: values.get("text") }));
}

/** Ask for the day until which something was true. @param {string[]} ids */
function ended(ids) {
  const day = el("input", { type: "date", name: "day", max: new Date(Date.now() - new Date().getTimezoneOffset() * 60000).toISOString().slice(0, 10) });
  ask("It was true until", [
    el("label", { class: "field" }, el("span", {}, "The day it ended"), day, el("small", {}, "Empty: now. It is no longer found, but who asks about the time before finds it.")),
  ], "Ended", (values) => act("ended", { ids, ...(values.get("day") ? { until: values.get("day") } : {}) }));
}

/** Tell what would be erased, and ask for its number. @param {string[]} ids */
async function purge(ids) {
  const path = url("/actions/purge");
  const answer = await fetch(path, { method: "POST", credentials: "same-origin", headers: { Accept: "application/json", "Content-Type": "application/json" }, body: JSON.stringify({ ids }) });
  const seen = await answer.json().catch(() => ({}));
  if (answer.status !== 409 || !seen.count) throw new Error(seen?.error?.message ?? `That did not work (${answer.status}).`);
  const parts = [`${seen.goes.named} named`];
  if (seen.goes.versions) parts.push(`${seen.goes.versions} older versions`);
  if (seen.goes.derived) parts.push(`${seen.goes.derived} made from them`);
  ask("Erase for good?", [
    el("p", {}, `${seen.count === 1 ? "1 memory goes" : `${seen.count} memories go`} (${parts.join(", ")}). No byte stays in the store, its backups and logs. This cannot be undone; forgetting can.`),
    el("label", { class: "field" }, el("span", {}, `Type ${seen.count} to erase`), el("input", { name: "typed", inputmode: "numeric", autocomplete: "off", required: true })),
  ], "Erase for good", (values) => {
    if (String(values.get("typed")).trim() !== String(seen.count)) throw new Error(`Type ${seen.count}, or cancel.`);
    return act("purge", { ids, typed: String(seen.count) });
  }, "danger");
}

const DIALOGS = { edit: (ids) => edit(ids[0], {}, ids), split: (ids) => split(ids[0]), merge, ended, purge };

/** Do what a button says, by its dialog if it has one; what fails is told. @param {string} verb @param {string[]} ids @param {Record<string, any>} [fields] */
async function press(verb, ids, fields = {}) {
  try {
    if (DIALOGS[verb]) await DIALOGS[verb](ids);
    else await act(verb, verb === "undo" ? fields : { ids, ...fields });
  } catch (error) {
    toast(error.message, { tone: "bad" });
  }
}

document.addEventListener("click", (event) => {
  const pressed = event.target.closest?.("[data-action]");
  if (!pressed || pressed.closest("#bulk") || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  if (pressed.dataset.confirm && !window.confirm(pressed.dataset.confirm)) return;
  const form = pressed.closest("form");
  const fields = {};
  for (const [name, value] of form ? new FormData(form) : []) if (!["ids", "back"].includes(name)) fields[name] = value;
  const ids = form ? new FormData(form).getAll("ids").map(String) : (pressed.dataset.ids ?? "").split(" ").filter(Boolean);
  pressed.closest("details")?.removeAttribute("open");
  press(pressed.dataset.action, ids.length ? ids : (pressed.dataset.ids ?? "").split(" ").filter(Boolean), fields);
});

// A list of buttons closes when somebody goes elsewhere.
document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll("details.more-acts[open]")) if (!open.contains(event.target)) open.removeAttribute("open");
});

// --- many at once -----------------------------------------------------------------------------------------------------

const BULK = [
  ["confirm", "True", "a"], ["pin", "Pin", "p"], ["merge", "Merge", "m"], ["ended", "Ended", "o"], ["untrue", "Not true", "w"],
  ["forget", "Forget", "f"], ["restore", "Bring back", "r"], ["purge", "Erase", "", "danger"],
];

/** Return the bar for many at once; made when it is first needed. */
function bar() {
  const there = document.getElementById("bulk");
  if (there) return there;
  const made = el("div", { id: "bulk", class: "bulk", role: "region", "aria-label": "Selected memories", hidden: true },
    el("output", { class: "bulk-count" }),
    ...BULK.map(([verb, label, key, tone]) => el("button", { type: "button", class: `button small ${tone ?? ""}`, "data-bulk": verb, "data-bulk-key": key || null, onclick: () => press(verb, [...chosen].flatMap((one) => one.split(" "))) }, label, key ? el("kbd", { "aria-hidden": "true" }, key) : null)),
    el("button", { type: "button", class: "button small quiet", onclick: clear }, "Clear"));
  document.body.append(made);
  return made;
}

/** Select memories by their ids, and offer what can be done to all of them; none closes that. @param {Iterable<string>} ids */
export function select(ids) {
  chosen.clear();
  for (const id of ids) chosen.add(id);
  show();
}

/** Select nothing. */
function clear() {
  select([]);
}

/** Let the boxes and the bar show what is selected. */
function show() {
  for (const box of document.querySelectorAll("input[data-select]")) {
    box.checked = chosen.has(box.value);
    box.closest("[data-item]")?.classList.toggle("is-chosen", box.checked);
  }
  for (const all of document.querySelectorAll("[data-select-all]")) all.hidden = false;
  if (!chosen.size && !document.getElementById("bulk")) return;
  const made = bar();
  made.hidden = !chosen.size;
  made.querySelector(".bulk-count").textContent = `${chosen.size.toLocaleString("en")} selected`;
  document.body.classList.toggle("has-bulk", chosen.size > 0);
}

document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-select-all]")) {
    select([...document.querySelectorAll("input[data-select]")].map((box) => box.value));
    return;
  }
  const box = event.target.closest?.("input[data-select]");
  if (!box) return;
  const boxes = [...document.querySelectorAll("input[data-select]")];
  const from = event.shiftKey && last?.isConnected ? boxes.indexOf(last) : boxes.indexOf(box);
  const to = boxes.indexOf(box);
  for (const one of boxes.slice(Math.min(from, to), Math.max(from, to) + 1)) box.checked ? chosen.add(one.value) : chosen.delete(one.value);
  last = box;
  show();
});

// While something is selected, the letters act on all of it. A letter of a button that stands behind "more" works too.
let leading = false; // behind `g` a letter names a view
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest?.("input:not([type=checkbox]), textarea, select, dialog") || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && chosen.size) { clear(); return; }
  if (!singleKeys()) return;
  const led = leading;
  leading = event.key === "g" && !led;
  if (led || leading) return;
  if (event.key === "n" && document.querySelector("[data-queue]")) { event.preventDefault(); next(item()); return; }
  if (!chosen.size) {
    const hidden = meant()?.querySelector(`details.more-acts:not([open]) [data-key="${CSS.escape(event.key)}"]`);
    if (hidden) { event.preventDefault(); event.stopImmediatePropagation(); hidden.click(); }
    return;
  }
  const button = document.querySelector(`#bulk [data-bulk-key="${CSS.escape(event.key)}"]`);
  if (button) { event.preventDefault(); event.stopImmediatePropagation(); button.click(); }
}, true);

on("refreshed", () => {
  for (const left of document.querySelectorAll("[data-queue] .is-leaving")) left.classList.remove("is-leaving");
  show();
  // What is drawn anew may use the elements of other memories.
  const to = wanted && item()?.dataset.id !== wanted ? document.querySelector(`[data-queue] [data-id="${CSS.escape(wanted)}"][data-item]`) : null;
  wanted = "";
  if (!to) return;
  to.setAttribute("tabindex", "0");
  to.focus({ preventScroll: true });
});
show();
