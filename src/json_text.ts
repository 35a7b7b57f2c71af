/** The members of a JSON object. */
export type Members = Record<string, unknown>;

export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Returns where the string that `from` is inside of ends; -1: it does not end. */
function endOfText(json: string, from: number): number {
  for (let at = from; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit === QUOTE) return at;
    if (unit === BACKSLASH) at++;
  }
  return -1;
}

/**
 * Stand-ins for keys begin with this random text, which no sender can guess. Not `crypto.randomUUID`, which is
 * missing on pages over plain HTTP: the dashboard uses this module too.
 */
const STAND_IN = crypto.getRandomValues(new BigUint64Array(2)).join();
const COLON = /[\t\n\r ]*:/y;

/** Yields the places of the quotes around each key that contains an escape. */
function* escapedKeys(json: string): Generator<readonly [open: number, close: number]> {
  let close = 0;
  for (;;) {
    const escape = json.indexOf("\\", close);
    if (escape < 0) return;
    const open = json.lastIndexOf('"', escape);
    close = endOfText(json, escape);
    if (open < 0 || close < 0) return;
    COLON.lastIndex = ++close;
    if (COLON.test(json)) yield [open, close - 1];
  }
}

/** Adds the objects and arrays directly inside `holder`. */
function pushHolders(pending: object[], holder: object): void {
  if (Array.isArray(holder)) {
    for (const item of holder) if (typeof item === "object" && item !== null) pending.push(item);
    return;
  }
  for (const name in holder) {
    const member = (holder as Record<string, unknown>)[name];
    if (typeof member === "object" && member !== null) pending.push(member);
  }
}

function hasAny(holder: object, names: ReadonlyMap<string, string>): boolean {
  for (const name in holder) if (name.startsWith(STAND_IN) && names.has(name)) return true;
  return false;
}

/** Gives members that are named by stand-ins their own names, in place and in the same order. */
function rename(value: unknown, names: ReadonlyMap<string, string>): void {
  if (typeof value !== "object" || value === null) return;
  const pending = [value];
  for (let holder = pending.pop(); holder !== undefined; holder = pending.pop()) {
    pushHolders(pending, holder);
    if (Array.isArray(holder) || !hasAny(holder, names)) continue;
    const members = Object.entries(holder);
    for (const [name] of members) Reflect.deleteProperty(holder, name);
    for (const [name, member] of members) {
      Object.defineProperty(holder, names.get(name) ?? name, {
        value: member,
        configurable: true,
        enumerable: true,
        writable: true,
      });
    }
  }
}

/** Matches characters that JSON can only write with an escape. */
// deno-lint-ignore no-control-regex
const NEEDS_ESCAPE = /["\\\u0000-\u001f]/;

/**
 * Parses a JSON text. `JSON.parse` alone may misread what others send: V8 reads the key `"\n"` as `\` if
 * an earlier object had a `\` key in its place (https://github.com/nodejs/node/issues/63785; seen in V8
 * 15.0). So each key that contains an escape is written without it if possible (`"caf\u00e9"`). One that
 * needs its escape gets a stand-in while the text is parsed; only then is the value searched afterwards to
 * rename it.
 * @throws SyntaxError as `JSON.parse` does
 */
export function parseJson(json: string): unknown {
  const standIns = new Map<string, string>();
  const pieces: string[] = [];
  let from = 0;
  for (const [open, close] of escapedKeys(json)) {
    const name: string = JSON.parse(json.slice(open, close + 1));
    let written = name;
    if (NEEDS_ESCAPE.test(name)) {
      written = standIns.get(name) ?? `${STAND_IN}${standIns.size}`;
      standIns.set(name, written);
    }
    pieces.push(json.slice(from, open), `"${written}"`);
    from = close + 1;
  }
  if (from === 0) return JSON.parse(json);
  const value: unknown = JSON.parse(pieces.join("") + json.slice(from));
  if (standIns.size > 0) {
    rename(value, new Map(Array.from(standIns, ([name, standIn]) => [standIn, name])));
  }
  return value;
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether objects and arrays nest deeper than `levels`; the value itself is the first level. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (isDeeper(member, levels - 1)) return true;
  }
  return false;
}
