const COUNTER_MAX = 0xfff;

let lastMs = 0;
let counter = 0;

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

/**
 * A UUIDv7 (RFC 9562, 6.2, method 1): milliseconds, a counter within the millisecond, 60 random
 * bits. So the ids of a page sort in the order in which its events happened.
 */
export function eventId(): string {
  const now = Date.now();
  if (now > lastMs || counter++ === COUNTER_MAX) {
    lastMs = Math.max(now, lastMs + 1);
    counter = 0;
  }
  let digits = `${hex(lastMs, 12)}7${hex(counter, 3)}8`;
  for (const byte of crypto.getRandomValues(new Uint8Array(15))) digits += hex(byte & 15, 1);
  return digits.replace(/^.{8}|.{4}(?=.{12})/g, "$&-");
}
