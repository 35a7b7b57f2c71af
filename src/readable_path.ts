/** Paths as people read and type them: browsers send what is not ASCII as the percent-encoded bytes of UTF-8. */

const FIELDS: readonly string[] = ["path", "entryPath", "exitPath"];
/** Bytes beyond ASCII. What stands for a character of ASCII, as `%2F`, means another path than the character. */
const ENCODED = /(?:%[89a-f][\da-f])+/gi;
/** What would be shown as nothing, as a space, or would turn the text about it. */
const UNSEEN = /[\p{C}\p{Z}]/gu;
/** What turns the text about it, also where it was sent as it is: `/a<202e>gpj.exe` would read as `/aexe.jpg`. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** A lone surrogate has no bytes. */
const BEYOND_ASCII = /[^\p{ASCII}\p{Cs}]+/gu;

/** Whether a field's values are paths. */
export function isPathField(field: string): boolean {
  return FIELDS.includes(field);
}

/** A path with letters in place of their bytes. */
export function readablePath(path: string): string {
  return path.replace(ENCODED, (bytes) => {
    try {
      return decodeURIComponent(bytes).replace(UNSEEN, encodeURIComponent);
    } catch {
      return bytes;
    }
  }).replace(TURNING, encodeURIComponent);
}

/** A path, or a part of one, as browsers send it. */
export function sentPath(text: string): string {
  return text.replace(BEYOND_ASCII, encodeURIComponent);
}

/**
 * The path, or the part of one, that a typed text means: a known one that is or reads like this; else written as in a
 * known one, since servers send letters as they are, and some sites their bytes in small letters; else as browsers send it.
 */
export function meantPath(text: string, known: readonly string[]): string {
  const whole = known.find((each) => each === text) ??
    known.find((each) => readablePath(each) === text);
  if (whole !== undefined) return whole;
  const sent = sentPath(text);
  const small = text.replace(BEYOND_ASCII, (letters) => encodeURIComponent(letters).toLowerCase());
  return [text, sent, small].find((part) => known.some((each) => each.includes(part))) ?? sent;
}
