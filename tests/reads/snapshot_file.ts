import { fileURLToPath } from "node:url";
import { join } from "node:path";

const FOLDER = fileURLToPath(new URL("./snapshots", import.meta.url));
const LINE_WIDTH = 100;
/**
 * Sums and percentiles may be taken in another order on another engine, and differ in their last
 * digits: so many are kept.
 */
const DIGITS = 12;
/** Of the moment of the test or of its server, never the same twice; and prose. */
const LEFT_OUT = new Set([
  "asOf",
  "pending",
  "tailCursor",
  "updatedAt",
  "ingestedAt",
  "hash",
  "semantics",
  "warnings",
]);

/** A reply as it is kept: without what is left out, numbers rounded. */
export function kept(value: unknown): unknown {
  if (typeof value === "number") return Number(value.toPrecision(DIGITS));
  if (Array.isArray(value)) return value.map(kept);
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value).filter(([name]) => !LEFT_OUT.has(name));
  return Object.fromEntries(members.map(([name, member]) => [name, kept(member)]));
}

/** Where two documents first differ, as `$.rows[3].visitors: 4, kept: 5`; null where they agree. */
export function firstDifference(found: unknown, expected: unknown, path = "$"): string | null {
  if (Object.is(found, expected)) return null;
  const both = [found, expected];
  if (both.every((value) => typeof value === "object" && value !== null)) {
    const [left, right] = both as [Record<string, unknown>, Record<string, unknown>];
    const list = Array.isArray(left);
    if (list !== Array.isArray(right)) return `${path}: one is a list, the other is not`;
    for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const place = list ? `${path}[${name}]` : `${path}.${name}`;
      if (!(name in left)) return `${place}: missing, kept: ${JSON.stringify(right[name])}`;
      if (!(name in right)) return `${place}: ${JSON.stringify(left[name])}, kept: missing`;
      const difference = firstDifference(left[name], right[name], place);
      if (difference !== null) return difference;
    }
    return null;
  }
  return `${path}: ${JSON.stringify(found)}, kept: ${JSON.stringify(expected)}`;
}

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) =>
    `${JSON.stringify(name)}: ${onOneLine(member)}`
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** JSON with what fits on one line there, so that a row of a report is a line of its file. */
function laidOut(value: unknown, indent: string, used: number): string {
  const line = onOneLine(value);
  const isSimple = value === null || typeof value !== "object" || line.length === 2;
  // One more for the comma.
  if (isSimple || indent.length + used + line.length + 1 <= LINE_WIDTH) return line;
  const inner = `${indent}  `;
  const list = Array.isArray(value);
  const parts = Object.entries(value).map(([name, member]) => {
    const label = list ? "" : `${JSON.stringify(name)}: `;
    return `${inner}${label}${laidOut(member, inner, label.length)}`;
  });
  const [open, close] = list ? "[]" : "{}";
  return `${open}\n${parts.join(",\n")}\n${indent}${close}`;
}

const fileOf = (name: string) => join(FOLDER, `${name}.json`);

/** Names of all snapshots that are kept. */
export function snapshotNames(): string[] {
  return [...Deno.readDirSync(FOLDER)].map(({ name }) => name.replace(/\.json$/, "")).sort();
}

/** A snapshot; undefined where none of this name is kept. */
export async function readSnapshot(name: string): Promise<unknown> {
  try {
    return JSON.parse(await Deno.readTextFile(fileOf(name)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Keeps a document, laid out as `deno fmt` wants it. */
export async function writeSnapshot(name: string, document: unknown): Promise<void> {
  await Deno.writeTextFile(fileOf(name), `${laidOut(document, "", 0)}\n`);
}
