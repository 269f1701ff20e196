// What a memory said before, and since when: its versions as a strip of time and as a chain, each with what changed.

import { beginning, inert } from "./inert.js";
import { day, moment } from "./dates.js";
import { element, timeOf } from "./elements.js";

const LONGEST_CHAIN = 12;
const LONGEST_COMPARED = 400; // words of a text; the rest is shown without marks
const SHOWN_OF_VERSION = 400;
const LEAST_SHARE = 0.09; // of the strip: what held for a day only is still seen

/**
 * Fetch the versions of a memory, the newest first.
 * @param {(id: string) => Promise<object | undefined>} fetchOne
 * @param {object} memory one of them, whole
 */
export async function versionsOf(fetchOne, memory) {
  const seen = new Set([memory.id]);
  const follow = async (from, name) => {
    const found = [];
    for (let at = from; at?.[name] && !seen.has(at[name]) && seen.size < LONGEST_CHAIN; ) {
      seen.add(at[name]);
      at = await fetchOne(at[name]);
      if (at) found.push(at);
    }
    return found;
  };
  const newer = await follow(memory, "newer");
  const older = await follow(memory, "supersedes");
  const all = [...newer.reverse(), memory, ...older];
  return { versions: all, more: Boolean(all.at(-1).supersedes) && !seen.has(all.at(-1).supersedes) };
}

/** Since when a version was true, as far as that is known. */
export function since(version) {
  return moment(version.occurred_at) ?? moment(version.created_at);
}

/**
 * Return the share of the strip that each version has, the oldest first.
 * @param {Date[]} begins when each began, the oldest first
 * @param {Date} now
 */
export function sharesOf(begins, now) {
  const ends = [...begins.slice(1), now];
  const lengths = begins.map((begin, at) => Math.max(ends[at] - begin, 0));
  const total = lengths.reduce((sum, one) => sum + one, 0) || 1;
  const least = Math.min(LEAST_SHARE, 1 / begins.length);
  const raised = lengths.map((one) => Math.max(one / total, least));
  const sum = raised.reduce((all, one) => all + one, 0);
  return raised.map((one) => one / sum);
}

/**
 * Return the words of a text in order, each with whether they are new in it ("added"), gone ("removed") or the same.
 * @param {string} before
 * @param {string} after
 * @returns {{text: string, kind: "same" | "added" | "removed"}[]}
 */
export function wordChanges(before, after) {
  const old = inWords(before);
  const now = inWords(after);
  if (old.length > LONGEST_COMPARED || now.length > LONGEST_COMPARED) return [{ text: after, kind: "same" }];
  const width = now.length + 1;
  const common = new Uint16Array((old.length + 1) * width); // longest common subsequences of the ends
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] = old[i] === now[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
  const changes = [];
  const add = (text, kind) => {
    if (changes.at(-1)?.kind === kind) changes.at(-1).text += text;
    else changes.push({ text, kind });
  };
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      add(now[j++], "same");
      i++;
    } else if (i < old.length && (j === now.length || common[(i + 1) * width + j] >= common[i * width + j + 1])) add(old[i++], "removed");
    else add(now[j++], "added");
  }
  return changes;
}

/** A text in words, spaces and single signs. @param {string} text @returns {string[]} */
function inWords(text) {
  return text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
}

/** The versions as a picture and a list; null where there is only one. */
export function versionsShown({ versions, more }) {
  if (versions.length < 2) return null;
  return element(
    "section",
    { class: "versions", "aria-label": "What it said, and when" },
    element("h3", {}, "What it said, and when"),
    strip([...versions].reverse()),
    element("ol", { class: "chain" }, ...versions.map((one, at) => versionShown(one, versions[at - 1], versions[at + 1]))),
    more && element("p", { class: "quiet" }, "There are older versions."),
  );
}

/** The spans of the versions side by side, as wide as each held. */
function strip(versions) {
  const begins = versions.map((one) => since(one) ?? new Date());
  const shares = sharesOf(begins, new Date());
  const parts = versions.map((one, at) => {
    const last = at === versions.length - 1;
    const told = `${day(begins[at])} – ${last ? "now" : day(begins[at + 1])}: ${beginning(inert(one.text), 80).text}`;
    const part = element("li", { class: last ? "holds" : "held", title: told }, element("span", {}, day(begins[at])));
    part.style.flexGrow = shares[at].toFixed(4);
    return part;
  });
  return element("ol", { class: "strip", "aria-hidden": "true" }, ...parts, element("li", { class: "end" }, element("span", {}, "now")));
}

/** One version: its words, with what changed since the older one, and when it held. */
function versionShown(version, newer, older) {
  const words = older ? wordChanges(inert(older.text), inert(version.text)) : [{ text: inert(version.text), kind: "same" }];
  const tags = { same: "span", added: "ins", removed: "del" };
  const shown = element("p", { class: "text", dir: "auto" });
  let room = SHOWN_OF_VERSION;
  for (const { text, kind } of words) {
    if (room <= 0) break;
    const { text: part, more } = beginning(text, room);
    shown.append(element(tags[kind], {}, part + (more ? "…" : "")));
    room -= part.length;
  }
  return element("li", { class: newer ? "held" : "holds" }, whenItHeld(version, newer), shown);
}

/** From when until when a version held; until the newer one began. */
function whenItHeld(version, newer) {
  const from = (since(version) ?? new Date()).toISOString();
  const until = newer && since(newer);
  const learned = version.occurred_at && timeOf(version.created_at, { before: " · learned ", plain: true });
  if (!until) return element("p", { class: "when" }, timeOf(from, { before: "since ", plain: true }), learned);
  return element("p", { class: "when" }, timeOf(from, { plain: true }), timeOf(until.toISOString(), { before: " – ", plain: true }), learned);
}
