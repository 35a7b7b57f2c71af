import { z } from "zod";
import { JOURNEY_STEPS_MAX } from "../../limits.ts";
import { readJson } from "../../query/filters.ts";
import { invalidParameter } from "../../query/parameters.ts";
import type { Read } from "../../scans/read.ts";
import { readIds } from "../../scans/value_texts.ts";
import { type NumberedRead, PlaceText, refuseListed } from "../behind/behind.ts";
import { scanSteps, type SelectedWays, selectWays } from "./journey_scan.ts";
import { nameCode, NODE_KINDS, pathCode } from "./journey_steps.ts";
import { JOURNEY_BEHIND, type WantedStep } from "./journey_visitor.ts";
import { JOURNEYS, readJourneyParameters } from "./journeys.ts";

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
