// Stored text as text: what would steer a page or turn its words round is shown as a sign, never obeyed.

const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;
const UNSEEN = /[\u0080-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;
const DELETE = 0x7f;

/** How many characters of a text stand in a card before somebody asks for the rest. */
export const SHOWN_CHARACTERS = 600;

/**
 * Return stored text so that all of it can be seen: control characters and invisible marks become signs, line ends are kept.
 * @param {unknown} stored
 * @returns {string}
 */
export function inert(stored) {
  return String(stored ?? "")
    .replace(/\r\n?/g, "\n")
    .replace(CONTROL, (one) => String.fromCharCode(one.charCodeAt(0) === DELETE ? 0x2421 : 0x2400 + one.charCodeAt(0)))
    .replace(UNSEEN, (one) => `⟨U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/**
 * Return the beginning of a text that ends at a whole character, and whether something follows it.
 * @param {string} text
 * @param {number} most
 * @returns {{text: string, more: boolean}}
 */
export function beginning(text, most) {
  if (text.length <= most) return { text, more: false };
  const low = text.charCodeAt(most - 1);
  const splits = low >= 0xd800 && low <= 0xdbff;
  return { text: text.slice(0, splits ? most - 1 : most), more: true };
}
