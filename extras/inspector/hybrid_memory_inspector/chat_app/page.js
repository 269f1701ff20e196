// The page: what was asked, the memories found, and the keys.

import { Card } from "./card.js";
import { day, moment, reader } from "./dates.js";
import { button, element } from "./elements.js";
import { inert } from "./inert.js";
import { asking, changesInWords, groupsOf, questionOf, withDetails } from "./state.js";

const ROOM = 200000; // tokens: a person reads on as long as they like
const EXPLAINED = 100;
const SHOWN_INLINE = 5; // cards: a brief of twenty would push the conversation away

/** The whole of what is shown. It is made once and follows what the host tells. */
export class Page {
  constructor(host, root) {
    this.host = host;
    this.cards = [];
    this.changes = [];
    this.question = questionOf({});
    this.pages = [];
    this.parts = Object.fromEntries([...root.querySelectorAll("[data-part]")].map((one) => [one.dataset.part, one]));
    // No form: a host's sandbox need not let one be sent.
    this.parts.query.addEventListener("keydown", (event) => event.key === "Enter" && this.searchAgain());
    this.parts.go.addEventListener("click", () => this.searchAgain());
    this.parts.asof.addEventListener("change", () => this.searchAgain());
    this.parts.today.addEventListener("click", () => {
      this.parts.asof.value = "";
      this.searchAgain();
    });
    this.parts.size.addEventListener("click", () => this.changeSize());
    this.parts.keys.addEventListener("click", () => this.toggleKeys());
    root.ownerDocument.addEventListener("keydown", (event) => this.press(event));
  }

  /** Follow what the host says of itself: theme, colours, language, size. */
  follow() {
    const { theme, styles, locale, timeZone, displayMode, availableDisplayModes, safeAreaInsets, containerDimensions } = this.host.context;
    const root = document.documentElement;
    if (theme) root.dataset.theme = theme === "dark" ? "dark" : "light";
    for (const [name, value] of Object.entries(styles?.variables ?? {})) {
      if (name.startsWith("--") && typeof value === "string") root.style.setProperty(name, value);
    }
    Object.assign(reader, { locale, timeZone });
    root.dataset.mode = displayMode === "fullscreen" ? "fullscreen" : "inline";
    if (displayMode === "fullscreen" && this.cards.length) this.fold(Infinity);
    root.classList.toggle("fixed", typeof containerDimensions?.height === "number");
    const { top = 0, right = 0, bottom = 0, left = 0 } = safeAreaInsets ?? {};
    document.body.style.padding = [top, right, bottom, left].map((one) => `${Number(one) || 0}px`).join(" ");
    const large = displayMode === "fullscreen";
    this.parts.size.hidden = !(availableDisplayModes ?? []).includes(large ? "inline" : "fullscreen");
    this.parts.size.textContent = large ? "Smaller" : "Larger";
    this.parts.search.hidden = !this.host.canCall;
  }

  /** What the assistant asked; the answer is on its way. */
  asked(given) {
    this.question = questionOf(given);
    this.parts.query.value = inert(this.question.query);
    const found = moment(this.question.asOf);
    this.parts.asof.value = found ? found.toISOString().slice(0, 10) : "";
    this.tell("Looking…");
  }

  /** Show an answer of a tool as the host passes it on. */
  async answered(result) {
    if (result.isError) return this.fail(result.content?.find((one) => one.type === "text")?.text ?? "That could not be done.");
    const structured = result.structuredContent ? withDetails(result.structuredContent, result._meta) : await this.askedAgain();
    if (structured?.stored) return this.showStored(structured.stored);
    return structured && this.showFirst(structured, asking(this.question));
  }

  /** Some hosts pass on the text alone: ask again for what can be shown. */
  async askedAgain() {
    if (!this.host.canCall) return this.fail("This chat passes on no details, and cannot be asked for them.");
    return this.attempt(() => this.find(asking(this.question)));
  }

  async showStored(ids) {
    const found = await this.attempt(() => this.find({ ids, token_budget: ROOM }));
    if (!found) return;
    this.showFirst(found, { ids });
    this.tell(`${ids.length} ${ids.length === 1 ? "insight" : "insights"} stored`);
  }

  showFirst(structured, given) {
    this.parts.list.replaceChildren();
    this.cards = [];
    this.pages = [];
    this.showNext(structured, given);
  }

  showNext(structured, given) {
    this.pages.push({ given, reasons: null });
    const page = this.pages.at(-1);
    for (const { title, memories } of groupsOf(structured)) {
      this.parts.list.append(element("h2", { dir: "auto", class: title ? "" : "unseen" }, inert(title || "Found")));
      const cards = memories.map((one) => new Card(one, this.toolsOf(page)));
      this.parts.list.append(element("ol", { class: "cards" }, ...cards.map((one) => one.element)));
      this.cards.push(...cards);
    }
    this.summarise(structured);
    this.next = this.host.canCall && structured.cursor ? { cursor: structured.cursor, count: structured.remaining } : null;
    this.fold(this.pages.length === 1 && document.documentElement.dataset.mode === "inline" ? SHOWN_INLINE : Infinity);
  }

  /** Show the first of the cards; a button shows the others, or what the server has beyond them. */
  fold(most) {
    // One more is no reason to hide it.
    const shown = this.cards.length <= most + 1 ? this.cards.length : most;
    this.cards.forEach((one, at) => (one.element.hidden = at >= shown));
    for (const list of this.parts.list.querySelectorAll("ol.cards")) {
      const empty = [...list.children].every((one) => one.hidden);
      list.hidden = list.previousElementSibling.hidden = empty;
    }
    this.parts.more.replaceChildren();
    const rest = this.cards.length - shown;
    const label = (count) => `Show ${count.toLocaleString()} more`;
    if (rest) this.parts.more.append(button(label(rest), () => this.unfold(shown), { key: "n" }));
    else if (this.next) this.parts.more.append(button(label(this.next.count), () => this.showMore(this.next.cursor), { key: "n" }));
  }

  unfold(first) {
    this.fold(Infinity);
    this.cards[first].article.focus();
  }

  summarise(structured) {
    const { query, asOf } = this.question;
    const about = query ? ` for “${inert(query)}”` : "";
    const at = asOf ? `, as it was known ${moment(asOf) ? `on ${day(moment(asOf))}` : inert(asOf)}` : "";
    const number = this.cards.length;
    if (structured.groups) this.tell(number ? `What may be worth a thought${about}` : "Nothing is worth a thought yet: there has to be more to think about.");
    else if (!number) this.tell(query ? `Nothing is known${about}${at}.` : `Nothing is remembered yet${at}. Tell the assistant something that should last: “Remember that …”.`);
    else if (structured.unknown) this.tell(`Probably nothing is known${about}${at}. The closest:`);
    else this.tell(`${number.toLocaleString()} ${number === 1 ? "memory" : "memories"}${about}${at}`);
    this.parts.note.textContent = inert(structured.note ?? "");
    this.parts.today.hidden = !asOf;
  }

  async searchAgain() {
    const asOf = this.parts.asof.value && `${this.parts.asof.value}T23:59:59`;
    this.question = { ...this.question, query: this.parts.query.value.trim(), asOf };
    this.tell("Looking…");
    const given = asking(this.question);
    const found = await this.attempt(() => this.find(given));
    if (found) this.showFirst(found, given);
  }

  async showMore(cursor) {
    const given = asking(this.question, cursor);
    const last = this.cards.length;
    const found = await this.attempt(() => this.find(given));
    if (!found) return;
    this.showNext(found, given);
    this.cards[last]?.article.focus();
  }

  async find(given) {
    const { structured, meta } = await this.host.callTool("read_memories", given);
    return withDetails(structured, meta);
  }

  /** What the cards of one page of the answer may do. */
  toolsOf(page) {
    const call = async (name, given) => (await this.host.callTool(name, given)).structured;
    return {
      canCall: this.host.canCall,
      read: async (id) => (await call("read_memories", { ids: [id], token_budget: ROOM })).memories?.[0],
      readAll: async (ids) => (ids.length ? (await call("read_memories", { ids, token_budget: ROOM })).memories : []),
      update: (change) => call("update_memory", change),
      forget: (id, restore) => call("forget_memories", restore ? { ids: [id], restore } : { ids: [id] }),
      reasons: async (id) => (await this.reasonsFor(page)).get(id),
      changed: (change) => this.changed(change),
      say: (words) => this.say(words),
    };
  }

  async reasonsFor(page) {
    if (!page.given.query) return new Map();
    page.reasons ??= this.find({ ...page.given, limit: EXPLAINED, explain: true, token_budget: ROOM });
    const found = await page.reasons;
    return new Map((found.memories ?? []).map((one) => [one.id, one.explain]));
  }

  /** Note what the person did; the assistant hears of it with the next message, where the host passes it on. */
  changed(change) {
    this.changes.push(change);
    if (!this.host.capabilities.updateModelContext) return;
    const told = { content: [{ type: "text", text: changesInWords(this.changes) }] };
    this.host.request("ui/update-model-context", told).catch(() => {}); // the change itself is done
  }

  async changeSize() {
    const mode = document.documentElement.dataset.mode === "fullscreen" ? "inline" : "fullscreen";
    const got = await this.attempt(() => this.host.request("ui/request-display-mode", { mode }));
    if (!got) return;
    this.host.context = { ...this.host.context, displayMode: got.mode };
    this.follow();
  }

  async attempt(work) {
    try {
      return await work();
    } catch (error) {
      this.fail(error.message);
      return null;
    }
  }

  tell(words) {
    this.parts.summary.classList.remove("problem");
    this.parts.summary.textContent = words;
  }

  fail(words) {
    this.tell(words);
    this.parts.summary.classList.add("problem");
  }

  say(words) {
    this.parts.said.textContent = words;
  }

  toggleKeys() {
    this.parts.help.hidden = !this.parts.help.hidden;
    this.parts.keys.setAttribute("aria-expanded", String(!this.parts.help.hidden));
  }

  press(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest?.("input, textarea");
    if (typing) return;
    const at = this.cards.findIndex((one) => one.element.contains(document.activeElement));
    const onButton = event.target.closest?.("button") && event.key === "Enter";
    const done = !onButton && (this.pressOnPage(event.key, at) || (at >= 0 && this.cards[at].press(event.key)));
    if (done) event.preventDefault();
  }

  pressOnPage(key, at) {
    const does = {
      "/": () => this.parts.query.focus(),
      "?": () => this.toggleKeys(),
      j: () => this.focusCard(at + 1),
      k: () => this.focusCard(Math.max(at - 1, 0)),
      n: () => this.parts.more.querySelector("button")?.click(),
    }[key];
    if (!does) return false;
    does();
    return true;
  }

  focusCard(at) {
    const card = this.cards[at];
    if (card?.element.hidden) this.fold(Infinity);
    card?.article.focus();
    card?.article.scrollIntoView({ block: "nearest" });
  }
}
