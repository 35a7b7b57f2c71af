/** What is asked of a project before and after, over days that are over, and how answers differ. */
import { ask, pause, type Place } from "./program.ts";
import { canonical } from "./stored_events.ts";

/** Reply members that tell of the asking and its moment, not of the days that are asked of. */
const NOT_COMPARED = new Set(["query", "asOf", "pending", "tailCursor", "open"]);

/** Changes that the CHANGELOG names: where they show, and its words. */
const NAMED: readonly (readonly [RegExp, string])[] = [
  [/^\.findings\.\d+\.text: "Sessions.*→ "Visits/, "Plainer words: visits and people throughout"],
];

const PLACES_TOLD = 5;
const LOOK_MS = 500;

const FILTERS = [
  [{ field: "country", op: "exists", values: [] }, {
    field: "path",
    op: "contains",
    values: ["1"],
  }],
  [{ field: "source", op: "is", values: ["news"] }],
  [{ field: "properties.plan", op: "is", values: ["team"] }],
];
const STEPS = [{ name: "page_view" }, { name: "click" }, { name: "purchase" }];

/** Reads of every kind, by path and query. */
export function askedReads(from: string, to: string): string[] {
  const reads: [string, Record<string, unknown>][] = [
    ["kpis", {}],
    ["kpis", { compare: "previous", interval: "week" }],
    ["kpis", { bots: "include" }],
    ["kpis", { bots: "only" }],
    ...FILTERS.map((filters): [string, Record<string, unknown>] => ["kpis", { filters }]),
    ...["channel", "source", "medium", "campaign", "referrer", "entryPath", "country", "browser"]
      .map((by): [string, Record<string, unknown>] => ["acquisition", { by, limit: 1_000 }]),
    ["acquisition", { by: "device", goal: "buy" }],
    ["acquisition", { by: "city", filters: FILTERS[0], limit: 1_000 }],
    ["pages", { limit: 1_000 }],
    ["pages", { limit: 1_000, filters: FILTERS[1] }],
    ["funnels/checkout", {}],
    ["funnels", { steps: STEPS, window: "3d" }],
    ["funnels", { steps: STEPS, order: "unordered", by: "channel" }],
    ["funnels", { steps: STEPS, order: "strict", entry: "first" }],
    ["retention", { interval: "week" }],
    ["retention", { interval: "day", cohort: "recurring", start: "page_view", periods: 10 }],
    ["goals", {}],
    ["trends", { event: "purchase", measure: "sum:properties.amount" }],
    ["trends", { event: "page_view", measure: "visitors", by: "browser" }],
    ["trends", { event: ["click", "signup"] }],
    ["heatmaps", { path: "/p/0", device: "desktop", kind: "click" }],
    ["heatmaps", { path: "/p/0", device: "mobile", kind: "scroll" }],
    ["heatmaps/paths", { limit: 1_000 }],
    ["insights", {}],
    ["events", { limit: 200 }],
    ["events", { limit: 100, filters: FILTERS[2] }],
  ];
  return reads.map(([path, members]) => {
    const query = Object.entries({ from, to, ...members }).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]);
    return `${path}?${new URLSearchParams(query)}`;
  });
}

export type Answers = ReadonlyMap<string, unknown>;

export async function readAnswers(
  place: Place,
  token: string,
  project: string,
  reads: readonly string[],
): Promise<Answers> {
  const answers = new Map<string, unknown>();
  for (const read of reads) {
    const path = `/v1/${read}&project=${project}`;
    const headers = { authorization: `Bearer ${token}` };
    for (;;) {
      const { status, body } = await ask(place, path, { headers });
      // What is still to be counted is waited for.
      if (status === 200 && (body as { pending?: number }).pending! > 0) {
        await pause(LOOK_MS);
        continue;
      }
      const { code } = body as { code?: string };
      answers.set(read, status === 200 ? body : { status, code });
      break;
    }
  }
  return answers;
}

/** Where two values differ, by their places, at most so many. */
function* differences(before: unknown, after: unknown, at: string): Generator<string> {
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null;
  if (!isObject(before) || !isObject(after)) {
    if (canonical(before) !== canonical(after)) {
      yield `${at}: ${canonical(before).slice(0, 80)} → ${canonical(after).slice(0, 80)}`;
    }
    return;
  }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (at === "" && NOT_COMPARED.has(name)) continue;
    yield* differences(before[name], after[name], `${at}.${name}`);
  }
}

/** What the CHANGELOG says of these differences, once each. */
function namesOf(found: readonly string[]): string[] {
  const names = NAMED.filter(([pattern]) => found.some((place) => pattern.test(place)));
  return names.map(([, words]) => `named in the CHANGELOG: ${words}`);
}

/** Each read whose answer is another one, with its first differences. */
export function changedAnswers(before: Answers, after: Answers): Map<string, string[]> {
  const changed = new Map<string, string[]>();
  for (const [read, answer] of before) {
    const found = [...differences(answer, after.get(read), "")];
    const unnamed = found.filter((place) => !NAMED.some(([pattern]) => pattern.test(place)));
    if (unnamed.length > 0) changed.set(read, unnamed.slice(0, PLACES_TOLD));
    else if (found.length > 0) changed.set(read, namesOf(found));
  }
  return changed;
}
