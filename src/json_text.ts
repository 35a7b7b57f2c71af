/** An object as JSON has it. */
export type Members = Record<string, unknown>;

export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Where the text ends inside of which `from` lies; -1: nowhere. */
function endOfText(json: string, from: number): number {
  for (let at = from; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit === QUOTE) return at;
    if (unit === BACKSLASH) at++;
  }
  return -1;
}

/**
 * What stands for a key begins with this, which nobody who sends one can know. Not `crypto.randomUUID`, which
 * pages that came over plain HTTP do not have: the dashboard shares this part.
 */
const STAND_IN = crypto.getRandomValues(new BigUint64Array(2)).join();
const COLON = /[\t\n\r ]*:/y;

/** The keys that are spelt with an escape: where their first and last quotes stand. */
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

/** Adds what `holder` holds that may hold something itself. */
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

/** Gives the members of the objects that hold stand-ins their own names, in their order. */
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

/** What no key can hold unless it is spelt with an escape. */
// deno-lint-ignore no-control-regex
const NEEDS_ESCAPE = /["\\\u0000-\u001f]/;

/**
 * The value of a JSON text. `JSON.parse` alone is not enough for what others send: V8 reads the key
 * `"\n"` as `\` where an object before had that key in its place
 * (https://github.com/nodejs/node/issues/63785; seen in V8 15.0). So a key that is spelt with an
 * escape is put in plain letters, as most can be (`"caf\u00e9"`); one that cannot stands under
 * another name while it parses, and only then is the value looked through for it afterwards.
 * Throws SyntaxError as `JSON.parse` does.
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
