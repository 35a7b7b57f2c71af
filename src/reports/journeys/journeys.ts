import { JOURNEY_STEPS_MAX, JOURNEY_STEPS_MIN, JOURNEY_TOP_MAX } from "../../limits.ts";
import { MatchOrPage, readEventMatch, readJson } from "../../query/filters.ts";
import { invalidParameter, oneOf, readAll, readCount } from "../../query/parameters.ts";
import { readWindow, windowMs } from "../../query/window.ts";
import type { Report } from "../answer/report.ts";
import {
  JOURNEY_REPLY,
  scanJourneys,
  scanSteps,
  type SelectedWays,
  selectWays,
} from "./journey_scan.ts";
import { z } from "zod";
import type { Read } from "../../scans/read.ts";
import { readIds } from "../../scans/value_texts.ts";
import { type NumberedRead, PlaceText, refuseListed } from "../behind/behind.ts";
import { nameCode, NODE_KINDS, pathCode } from "./journey_steps.ts";
import { JOURNEY_BEHIND, type WantedStep } from "./journey_visitor.ts";

/** `GET /v1/journeys`: the ways that people take, step by step, from a start or back from an end. */
export const JOURNEYS: Report = {
  path: "/v1/journeys",
  summary: "Journeys: the ways people take, step by step, from a start or back from an end",
  parameters: {
    start: 'Where a way begins: an event\'s name, JSON {name, filters}, or {"path"} of a page view',
    end: "Where it ends, in the same words. Without a start it is followed back from there",
    by: "What a step is: path (default) of a page view, name of an event, or both",
    steps: `Steps of a way, ${JOURNEY_STEPS_MIN} to ${JOURNEY_STEPS_MAX}. Default: 5`,
    top: `Values of a step that are told by themselves, 1 to ${JOURNEY_TOP_MAX}. Default: 8`,
    scope: "session (default), or actor: one way of each person, across visits",
    window: "With scope=actor: how far a step may lie from where the way is followed. Default: 1d",
  },
  semantics:
    "Sessions that start in the range, hold a selected event and the start count, whole; of each the values from the first match of the start on (without a start or an end: from its first value), step by step. " +
    "With an end alone, the values up to its first match, counted backwards: step 1 is the end. With both, those between the start and the first end after it. Start and end are events under `bots`; the values between are all of the session. " +
    "By path a step is a page view's path, by name an event's name, by both a page view's path and any other event's name; click and scroll are no steps unless they are the start or the end, which are steps in any case. Equal values in a row are one step. " +
    "With scope=actor, filters and bots narrow every event, and each actor has one way: from the first start in the range, up to the window after it, also past `to`; or back from the first end in the range, as far as the window. " +
    "$end stands where a way is over before the last step ($end of a way back: it begins there); values beyond the `top` largest of a step are $other. What leads to a node and away from it adds up to its count.",
  reply: JOURNEY_REPLY,
  ask: (query) => {
    const parameters = readJourneyParameters(query);
    const { start, end, by, steps, top, of, window } = parameters;
    return {
      answer: async (read) => ({
        query: { start, end, by, steps, top, scope: of, window },
        result: await scanJourneys(read, parameters),
      }),
      terms: { matches: { start: [start], end: [end] } },
    };
  },
};

const BYS = ["path", "name", "both"] as const;
const SCOPES = ["session", "actor"] as const;
const STEPS = { min: JOURNEY_STEPS_MIN, max: JOURNEY_STEPS_MAX, otherwise: 5 };
const TOP = { min: 1, max: JOURNEY_TOP_MAX, otherwise: 8 };
const WINDOW_DEFAULT = "1d";

/** Reads the parameters of this report alone; `window` as it was given. */
function readJourneyParameters(query: URLSearchParams) {
  const parameters = readAll({
    start: () => readEventMatch(query, "start", MatchOrPage),
    end: () => readEventMatch(query, "end", MatchOrPage),
    by: () => oneOf(query, "by", BYS, "path"),
    steps: () => readCount(query, "steps", STEPS),
    top: () => readCount(query, "top", TOP),
    of: () => oneOf(query, "scope", SCOPES, "session"),
    window: () => readWindow(query, WINDOW_DEFAULT),
  });
  return { ...parameters, windowMs: windowMs(parameters.window)! };
}

const Node = z.strictObject({
  step: z.int().min(1).max(JOURNEY_STEPS_MAX),
  kind: z.enum(NODE_KINDS),
  value: PlaceText.nullable().optional(),
});

const JourneyNumber = z.strictObject({
  way: z.array(Node, 'Use {"way":[{"step":2,"kind":"path","value":"/"}]}.')
    .min(1, "Name a node.").max(JOURNEY_STEPS_MAX, "Name each step once."),
}, 'Use {"way":[{"step":2,"kind":"path","value":"/"}]}.');

type Node = z.output<typeof Node>;

/** Resolves the nodes that a way must go through; null: no way does. */
async function wantedSteps(
  read: Read,
  found: SelectedWays,
  top: number,
  way: readonly Node[],
): Promise<WantedStep[] | null> {
  const { sql, scope } = read;
  // Names are terms, as paths are.
  const texts = await readIds(sql, scope, "path", way.flatMap(({ value }) => value ?? []));
  const ids = new Map([...texts].map(([id, text]) => [text, id]));
  // A page view without a path has the path id 0.
  const idOf = (value: string | null) => value === null ? 0 : ids.get(value);
  const isOther = way.some(({ kind }) => kind === "other");
  const shown = isOther ? (await scanSteps(read, found, top)).shown : [];
  const wanted: WantedStep[] = [];
  for (const { step: number, kind, value = null } of way) {
    const step = number - 1;
    if (kind === "end") wanted.push({ step, isEnd: true });
    else if (kind === "other") wanted.push({ step, noneOf: shown[step]!.map(({ code }) => code) });
    else {
      const id = idOf(value);
      if (id === undefined) return null;
      wanted.push({ step, code: kind === "path" ? pathCode(id) : nameCode(id) });
    }
  }
  return wanted;
}

/** Lists the visits, with scope=actor the people, whose ways go through given nodes. */
export const JOURNEY_BEHIND_NODES: NumberedRead = {
  name: "journeys",
  parameters: Object.keys(JOURNEYS.parameters),
  ask: (query, listed) => {
    const parameters = readJourneyParameters(query);
    const { of, steps, start, end } = parameters;
    refuseListed(listed, of === "actor" ? "people" : "visits");
    const { way } = readJson(query, "place", JourneyNumber)!;
    const isBeyond = way.some(({ step, kind }) => step > steps || kind === "end" && step === 1);
    if (isBeyond) throw invalidParameter("place", `The ways have ${steps} steps.`);
    return {
      find: async (read) => {
        const found = await selectWays(read, parameters);
        const wanted = await wantedSteps(read, found, parameters.top, way);
        if (wanted === null) return { actors: new Int32Array(0), ms: new Float64Array(0) };
        const { selected, ways } = found;
        return await selected.scan(JOURNEY_BEHIND, () => ({ ways, wanted }));
      },
      matches: [start, end],
    };
  },
};
