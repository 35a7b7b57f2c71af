/** Paths as people read and type them: browsers send what is not ASCII as the percent-encoded bytes of UTF-8. */

const FIELDS: readonly string[] = ["path", "entryPath", "exitPath"];
/** Bytes beyond ASCII. What stands for a character of ASCII, as `%2F`, means another path than the character. */
const ENCODED = /(?:%[89a-f][\da-f])+/gi;
/** What would be shown as nothing, as a space, or would turn the text about it. */
const UNSEEN = /[\p{C}\p{Z}]/gu;
/** A lone surrogate has no bytes. */
const BEYOND_ASCII = /[^\p{ASCII}\p{Cs}]+/gu;

/** Whether a field's values are paths. */
export function isPathField(field: string): boolean {
  return FIELDS.includes(field);
}

/** A path, or a text with paths in it, with letters in place of their bytes. */
export function readablePath(text: string): string {
  return text.replace(ENCODED, (bytes) => {
    try {
      return decodeURIComponent(bytes).replace(UNSEEN, encodeURIComponent);
    } catch {
      return bytes;
    }
  });
}

/** A path, or a part of one, as browsers send it. */
export function sentPath(text: string): string {
  return text.replace(BEYOND_ASCII, encodeURIComponent);
}

/** The path that a typed text means: one of the known ones that is or reads like this, else as browsers send it. */
export function meantPath(text: string, known: readonly string[]): string {
  return known.find((each) => each === text) ??
    known.find((each) => readablePath(each) === text) ?? sentPath(text);
}
