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

/** What stands for a key begins with this, which nobody who sends one can know. */
const STAND_IN = crypto.randomUUID();
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

/** Gives the members of every object their own names, in their order. */
function rename(value: unknown, names: ReadonlyMap<string, string>): void {
  const pending = [value];
  while (pending.length > 0) {
    const holder = pending.pop();
    if (typeof holder !== "object" || holder === null) continue;
    const members = Object.entries(holder);
    for (const [, member] of members) pending.push(member);
    if (!members.some(([name]) => names.has(name))) continue;
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

/**
 * The value of a JSON text. `JSON.parse` alone is not enough for what others send: V8 reads the key
 * `"\n"` as `\` where an object before had that key in its place
 * (https://github.com/nodejs/node/issues/63785; seen in V8 15.0). So keys that are spelt with an
 * escape stand under another name while it parses. Throws SyntaxError as `JSON.parse` does.
 */
export function parseJson(json: string): unknown {
  const standIns = new Map<string, string>();
  const pieces: string[] = [];
  let from = 0;
  for (const [open, close] of escapedKeys(json)) {
    const name: string = JSON.parse(json.slice(open, close + 1));
    let standIn = standIns.get(name);
    if (standIn === undefined) standIns.set(name, standIn = `${STAND_IN}${standIns.size}`);
    pieces.push(json.slice(from, open), `"${standIn}"`);
    from = close + 1;
  }
  if (from === 0) return JSON.parse(json);
  const value: unknown = JSON.parse(pieces.join("") + json.slice(from));
  rename(value, new Map(Array.from(standIns, ([name, standIn]) => [standIn, name])));
  return value;
}
