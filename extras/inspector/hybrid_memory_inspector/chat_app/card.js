// One memory: what it says, since when, and what can be done about it where it stands.

import { chip, button, element, storedName, storedText, timeOf } from "./elements.js";
import { reasonsOf, remarksOn, tierInWords, trustInWords } from "./state.js";
import { versionsOf, versionsShown } from "./versions.js";

/**
 * A memory in the list.
 *
 * `tools` are what a card may ask of the page: `read(id)` the memory whole, `readAll(ids)` several, `update(change)`, `forget(id, restore)`, `reasons(id)` the
 * parts of its score or nothing, `changed(change)` notes what the person did, `say(words)` reads it out, `canCall`.
 */
export class Card {
  constructor(memory, tools) {
    this.memory = memory;
    this.tools = tools;
    this.whole = null;
    this.open = false;
    this.element = element("li", {});
    this.show();
  }

  /** Show it anew, as it is now. `note` is an element that says what was just done. */
  show(note) {
    const focused = this.element.contains(document.activeElement);
    const memory = this.whole ?? this.memory;
    this.body = element("div", { class: "body" }, storedText(memory.text));
    this.details = element("div", { class: "details", hidden: true });
    this.article = element(
      "article",
      { class: `card ${memory.newer ? "outdated" : ""}`, tabindex: "-1", "aria-label": "Memory" },
      this.header(memory),
      this.body,
      memory.before && !this.open && beforeShown(memory.before, memory.occurred_at ?? memory.created_at),
      note,
      this.tools.canCall && this.actions(memory),
      this.details,
    );
    this.element.replaceChildren(this.article);
    if (focused) this.article.focus();
    if (this.open) this.showDetails();
  }

  header(memory) {
    const [name, meaning] = tierInWords(memory.tier);
    const learned = timeOf(memory.created_at, { before: "learned " });
    return element(
      "header",
      {},
      name && chip(name, `tier ${memory.tier}`, meaning),
      memory.occurred_at && element("span", { class: "when" }, timeOf(memory.occurred_at, { before: "happened " })),
      element("span", { class: "when" }, learned),
      memory.speaker && element("span", { class: "when" }, "said by ", storedName(memory.speaker)),
      ...remarksOn(memory).map(([label, kind, hint]) => chip(label, kind, hint)),
    );
  }

  actions(memory) {
    const more = button(this.open ? "Less" : "Details", () => this.toggle(), { key: "Enter", kind: "quiet" });
    more.setAttribute("aria-expanded", String(this.open));
    const pin = memory.pinned ? "Unpin" : "Pin";
    return element(
      "div",
      { class: "actions" },
      !memory.newer && button("Correct", () => this.edit(), { key: "e", kind: "quiet", hint: "Change what it says; the old words are kept" }),
      !memory.newer && button(pin, () => this.pin(), { key: "p", kind: "quiet", hint: "Pinned memories are in every brief" }),
      button("Forget", () => this.forget(), { key: "f", kind: "quiet", hint: "Take it out of what is found; can be undone" }),
      more,
    );
  }

  /** Do what a key stands for; false if it stands for nothing here. */
  press(key) {
    if (!this.tools.canCall || this.editing) return false;
    const current = !(this.whole ?? this.memory).newer;
    const all = { Enter: () => this.toggle(), f: () => this.forget(), e: current && (() => this.edit()), p: current && (() => this.pin()) };
    const does = { ...(this.gone ? {} : all), u: this.undo }[key];
    if (!does) return false;
    does();
    return true;
  }

  async toggle() {
    this.open = !this.open;
    this.show();
  }

  async showDetails() {
    this.details.hidden = false;
    this.details.replaceChildren(element("p", { class: "quiet" }, "Looking it up…"));
    const shown = this.details;
    try {
      const whole = await this.read();
      const asked = [versionsOf((id) => this.tools.read(id), whole), this.tools.readAll(linksOf(whole)), this.tools.reasons(this.memory.id)];
      const [chain, linked, explain] = await Promise.all(asked);
      shown.replaceChildren(...[versionsShown(chain), ...linkedShown(whole, linked), reasonsShown(explain), factsShown(whole)].filter(Boolean));
      if (this.memory.cut) this.body.replaceChildren(storedText(whole.text));
    } catch (error) {
      shown.replaceChildren(element("p", { class: "note problem", role: "alert" }, error.message));
    }
  }

  async read() {
    this.whole ??= { ...this.memory, ...(await this.tools.read(this.memory.id)), cut: false };
    return this.whole;
  }

  async edit() {
    await this.attempt(async () => {
      const before = (await this.read()).text;
      const field = element("textarea", { rows: "3", dir: "auto", "aria-label": "What it should say" });
      field.value = before;
      const save = () => (field.value.trim() && field.value !== before ? this.correct(field.value, before) : this.leaveEdit());
      const form = element(
        "div", // no form: a host's sandbox need not let one be sent
        { class: "edit" },
        field,
        element("p", { class: "quiet" }, "The old words are kept as an earlier version."),
        element("div", { class: "actions" }, button("Save", save, { kind: "primary", hint: "Ctrl+Enter" }), button("Cancel", () => this.leaveEdit(), { key: "Escape" })),
      );
      field.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
        if (event.key === "Escape") this.leaveEdit();
      });
      this.editing = true;
      this.article.querySelector(":scope > .actions")?.remove();
      this.details.hidden = true;
      this.body.replaceChildren(form);
      field.focus();
    });
  }

  leaveEdit() {
    this.editing = false;
    this.show();
    this.article.focus();
  }

  async correct(text, before) {
    await this.attempt(async () => {
      const id = this.memory.id;
      const done = await this.tools.update({ id, content: text });
      this.editing = false;
      if (done.disputes) return this.disputed(done, text);
      this.renewVersion(done, text, before);
      this.tools.changed({ what: "corrected", id, now: done.id, text });
      this.say("Corrected.", () => this.putBack(before, text));
    });
  }

  async putBack(before, text) {
    await this.attempt(async () => {
      const id = this.memory.id;
      const done = await this.tools.update({ id, content: before });
      this.renewVersion(done, before, text);
      this.tools.changed({ what: "put back", id, now: done.id, text: before });
      this.say("The old words hold again.");
    });
  }

  disputed(done, text) {
    this.tools.changed({ what: "disputed", id: done.disputes, now: done.id, text });
    this.say("A person confirmed this memory, and nothing said in a chat replaces that. Your words are kept beside it; `hybrid-memory-mcp correct` replaces it.");
  }

  async pin() {
    await this.attempt(async () => {
      const pinned = !(this.whole ?? this.memory).pinned;
      await this.tools.update({ id: this.memory.id, pinned });
      this.renew({ pinned });
      this.tools.changed({ what: pinned ? "pinned" : "unpinned", id: this.memory.id });
      this.say(pinned ? "Pinned: it is in every brief." : "Not pinned any more.", () => this.pin());
    });
  }

  async forget() {
    await this.attempt(async () => {
      const id = this.memory.id;
      await this.tools.forget(id, false);
      this.tools.changed({ what: "forgot", id });
      this.gone = true;
      this.undo = () => this.bringBack();
      const back = button("Undo", this.undo, { key: "u" });
      const hint = storedName(this.memory.text);
      const slim = element("article", { class: "card gone", tabindex: "-1", "aria-label": "Forgotten memory" }, element("p", {}, "Forgotten: ", hint), back);
      this.article = slim;
      this.element.replaceChildren(slim);
      back.focus();
      this.tools.say("Forgotten.");
    });
  }

  async bringBack() {
    await this.attempt(async () => {
      await this.tools.forget(this.memory.id, true);
      this.tools.changed({ what: "restored", id: this.memory.id });
      this.gone = false;
      this.undo = undefined;
      this.show();
      this.say("It is back.");
      this.article.focus();
    });
  }

  /** It has a new version: what it said until now is what it said before. */
  renewVersion(done, text, before) {
    const since = this.memory.occurred_at ?? this.memory.created_at;
    const now = new Date().toISOString();
    this.renew({ id: done.id, text, tier: done.tier, created_at: now, supersedes: this.memory.id, before: { text: before.slice(0, 160), since } });
  }

  renew(fields) {
    this.memory = { ...this.memory, ...fields, cut: false };
    this.whole = null;
  }

  /** Say in the card and aloud what was done, with its undo if there is one. */
  say(words, undo) {
    this.undo = undo;
    this.show(element("p", { class: "note" }, words, undo && button("Undo", undo, { key: "u", kind: "link" })));
    this.article.focus();
    this.tools.say(words);
  }

  /** Do something with the server; what goes wrong stands in the card. */
  async attempt(work) {
    if (this.busy) return;
    this.busy = true;
    this.article.setAttribute("aria-busy", "true");
    try {
      await work();
    } catch (error) {
      const told = element("p", { class: "note problem", role: "alert" }, error.message);
      this.article.querySelector(":scope > .problem")?.remove();
      (this.gone ? this.article.lastChild : this.body).after(told);
    } finally {
      this.busy = false;
      this.article.removeAttribute("aria-busy");
    }
  }
}

/** What was there before, and until when. @param {{since: string, text: string}} before @param {string} until */
function beforeShown(before, until) {
  return element("p", { class: "before" }, timeOf(before.since, { plain: true }), timeOf(until, { before: " – ", plain: true }), ": ", storedName(before.text));
}

const LINKS = [
  ["What speaks against it", (memory) => memory.disputed_by ?? []],
  ["What it speaks against", (memory) => (memory.disputes ? [memory.disputes] : [])],
  ["What it rests on", (memory) => memory.evidence ?? []],
];
const LINKS_SHOWN = 10;

/** The ids of the memories that a memory is tied to. @returns {string[]} */
function linksOf(memory) {
  return [...new Set(LINKS.flatMap(([, of]) => of(memory).slice(0, LINKS_SHOWN)))];
}

/** The memories that a memory is tied to, by the sort of tie. */
function linkedShown(memory, linked) {
  const known = new Map(linked.map((one) => [one.id, one]));
  return LINKS.map(([title, of]) => {
    const ids = of(memory).slice(0, LINKS_SHOWN);
    const rows = ids.map((id) => known.get(id)).map((one) => element("li", {}, one ? storedText(one.text, { most: 160 }) : "Not there any more."));
    return rows.length && element("section", { class: "linked" }, element("h3", {}, title), element("ul", {}, ...rows));
  });
}

/** Why a memory was found, each reason with its share; null where nothing tells. */
function reasonsShown(explain) {
  const reasons = reasonsOf(explain);
  if (!reasons.length) return null;
  const bar = ({ share, against }) => {
    const filled = element("span", { class: against ? "against" : "" });
    filled.style.width = `${Math.round(share * 100)}%`;
    return element("span", { class: "meter", "aria-hidden": "true" }, filled);
  };
  const rows = reasons.map((one) => element("li", {}, bar(one), element("span", {}, one.words + (one.against ? " (counts against it)" : ""))));
  return element("section", { class: "reasons" }, element("h3", {}, "Why it was found"), element("ul", {}, ...rows));
}

/** What else is known about a memory, as a list of names and values. */
function factsShown(memory) {
  const rows = [
    ["Who vouches", trustInWords(memory.trust)],
    ["Learned", timeOf(memory.created_at, { plain: true })],
    ["Happened", memory.occurred_at && timeOf(memory.occurred_at, { plain: true })],
    ["Ends", memory.expires_at && timeOf(memory.expires_at, { plain: true })],
    ["Importance", memory.importance !== undefined && `${Math.round(memory.importance * 100)} of 100`],
    ["Tags", memory.tags?.length && storedName(memory.tags.join(", "))],
    ["Key", memory.key && storedName(memory.key)],
    ["Found in", memory.source && storedName(memory.source)],
    ["Conversation", memory.session && storedName(memory.session)],
    ["Id", element("code", {}, memory.id)],
  ].filter(([, value]) => value);
  const list = rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  return element("section", { class: "facts" }, element("h3", {}, "What is known about it"), element("dl", {}, ...list));
}
