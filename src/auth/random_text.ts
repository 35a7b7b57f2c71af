const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** The largest multiple of 62 in a byte's range: higher bytes would favour the first characters. */
const UNBIASED_BELOW = 248;

/** Returns `length` random base62 characters, all equally likely: 5.95 bits each. */
export function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length - text.length))) {
      if (byte < UNBIASED_BELOW) text += BASE62[byte % 62];
    }
  }
  return text;
}
