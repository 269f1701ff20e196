// Times in the reader's language and zone: how long ago, with the exact moment at hand.

const UNITS = [["year", 31557600], ["month", 2629800], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];

/** The reader's language and zone; the host tells them. */
export const reader = { locale: undefined, timeZone: undefined };

/**
 * @param {string | undefined} iso
 * @returns {Date | null} null for what is no time
 */
export function moment(iso) {
  const found = iso ? new Date(iso) : null;
  return found && !Number.isNaN(found.getTime()) ? found : null;
}

/**
 * Return how long ago something was, or how far ahead it is: "3 days ago".
 * @param {Date} when
 * @param {Date} now
 * @returns {string}
 */
export function relative(when, now) {
  const seconds = (when.getTime() - now.getTime()) / 1000;
  const found = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  if (!found) return "just now";
  const written = localised((locale) => new Intl.RelativeTimeFormat(locale, { numeric: "auto" }));
  return written.format(Math.trunc(seconds / found[1]), found[0]);
}

/**
 * @param {Date} when
 * @returns {string} the moment in full
 */
export function exact(when) {
  return formatted(when, { dateStyle: "full", timeStyle: "medium" });
}

/**
 * @param {Date} when
 * @returns {string} the day
 */
export function day(when) {
  return formatted(when, { dateStyle: "medium" });
}

/** Write a moment in the reader's zone. @param {Date} when @param {Intl.DateTimeFormatOptions} options @returns {string} */
function formatted(when, options) {
  try {
    return localised((locale) => new Intl.DateTimeFormat(locale, { ...options, timeZone: reader.timeZone })).format(when);
  } catch {
    return localised((locale) => new Intl.DateTimeFormat(locale, options)).format(when); // a zone that this browser does not know
  }
}

/** Make a format in the reader's language. @template T @param {(locale: string | undefined) => T} make @returns {T} */
function localised(make) {
  try {
    return make(reader.locale);
  } catch (error) {
    if (reader.locale === undefined) throw error;
    return make(undefined); // a language tag that is none
  }
}
