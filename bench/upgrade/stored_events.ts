/** All stored events of a project as the API gives them, every member of each. */
import { createHash } from "node:crypto";
import { parseJson } from "../../src/json_text.ts";
import type { Place } from "./program.ts";

/** One export reaches at most ten years. */
const SPANS = [
  ["1960", "1969"],
  ["1969", "1978"],
  ["1978", "1987"],
  ["1987", "1996"],
  [
    "1996",
    "2005",
  ],
  ["2005", "2014"],
  ["2014", "2023"],
  ["2023", "2032"],
] as const;

export interface StoredEvents {
  /** What each event is, by its id; empty where only their sum was asked for. */
  readonly texts: ReadonlyMap<string, string>;
  readonly count: number;
  /** Of digests of all of them: the same for the same events in any order. */
  readonly sum: bigint;
  /** Ids that came more than once. */
  readonly repeated: number;
}

/** A value as a text that is the same whatever the order of its members. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
  return `{${members.map(([name, member]) => JSON.stringify(name) + ":" + canonical(member))}}`;
}

function digest(text: string): bigint {
  return createHash("sha256").update(text).digest().readBigUInt64LE();
}

/** Members that earlier programs did not tell: they say the same in `properties.server`. */
interface StoredEvent {
  readonly eventId: string;
  readonly server?: unknown;
  readonly sentTimestamp?: unknown;
}

/** Reads them all. `leftOut`: ids that are not counted, but whose texts are kept. */
export async function readStored(
  place: Place,
  token: string,
  project: string,
  keepTexts: boolean,
  leftOut: ReadonlySet<string> = new Set(),
): Promise<StoredEvents> {
  const texts = new Map<string, string>();
  let count = 0;
  let sum = 0n;
  let repeated = 0;
  const take = (line: string) => {
    const { server: _, sentTimestamp: __, ...event } = parseJson(line) as StoredEvent;
    const text = canonical(event);
    const isLeftOut = leftOut.has(event.eventId);
    if (keepTexts || isLeftOut) {
      if (texts.has(event.eventId)) repeated++;
      texts.set(event.eventId, text);
    }
    if (isLeftOut) return;
    count++;
    sum = BigInt.asUintN(64, sum + digest(text));
  };
  for (const [from, to] of SPANS) {
    const query = new URLSearchParams({
      project,
      bots: "include",
      from: `${from}-01-01T00:00:00Z`,
      to: `${to}-01-01T00:00:00Z`,
    });
    const reply = await fetch(`http://127.0.0.1:${place.port}/v1/events?${query}`, {
      headers: { authorization: `Bearer ${token}`, accept: "application/x-ndjson" },
    });
    if (!reply.ok) throw new Error(`export: ${reply.status} ${await reply.text()}`);
    let rest = "";
    for await (const text of reply.body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      lines.forEach(take);
    }
    if (rest !== "") take(rest);
  }
  return { texts, count, sum, repeated };
}
