import { z } from "zod";
import type { Sql } from "../../db/sql.ts";
import { JOURNEY_STEPS_MAX } from "../../limits.ts";
import { termDigests } from "../../query/filter_conditions.ts";
import { readJson } from "../../query/filters.ts";
import { invalidParameter } from "../../query/parameters.ts";
import { SqlParams } from "../../query/sql_params.ts";
import type { Read } from "../../scans/read.ts";
import { type NumberedRead, PlaceText, refuseListed } from "../behind/behind.ts";
import type { Behind } from "../behind/behind_tally.ts";
import { askingOf } from "../answer/report.ts";
import { scanSteps, type SelectedWays, selectWays } from "./journey_scan.ts";
import { nameCode, NODE_KINDS, pathCode } from "./journey_steps.ts";
import { JOURNEY_BEHIND, type WantedStep } from "./journey_visitor.ts";
import { JOURNEYS, type Own, readOwn } from "./journeys.ts";

const Node = z.strictObject({
  step: z.int().min(1).max(JOURNEY_STEPS_MAX),
  kind: z.enum(NODE_KINDS),
  value: PlaceText.nullable().optional(),
});

const Place = z.strictObject({
  way: z.array(Node, 'Use {"way":[{"step":2,"kind":"path","value":"/"}]}.')
    .min(1, "Name a node.").max(JOURNEY_STEPS_MAX, "Name each step once."),
}, 'Use {"way":[{"step":2,"kind":"path","value":"/"}]}.');

type Node = z.output<typeof Node>;

/** The ids of texts; what the project never had is not among them. */
async function idsOf(
  { sql, scope }: { readonly sql: Sql; readonly scope: Read["scope"] },
  texts: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const params = new SqlParams();
  const rows = await sql.query<{ id: number; term: string }>(
    `SELECT term_id AS id, term FROM terms
    WHERE project_id = ${params.int(scope.projectId)} AND digest = ANY (${
      params.uuids(termDigests(texts))
    })`,
    params.values,
  );
  return new Map(rows.map(({ id, term }) => [term, id]));
}

/** What ways must have; null: none has it. */
async function wantedSteps(
  read: Read,
  found: SelectedWays,
  { top }: Own,
  way: readonly Node[],
): Promise<WantedStep[] | null> {
  const texts = way.flatMap(({ value }) => value ?? []);
  const ids = await idsOf(read, texts);
  // A page view without a path has that of id 0.
  const idOf = (value: string | null) => value === null ? 0 : ids.get(value);
  const isOther = way.some(({ kind }) => kind === "other");
  const told = isOther ? (await scanSteps(read, found, top)).told : [];
  const wanted: WantedStep[] = [];
  for (const { step: number, kind, value = null } of way) {
    const step = number - 1;
    if (kind === "end") wanted.push({ step, isEnd: true });
    else if (kind === "other") wanted.push({ step, noneOf: told[step]!.map(({ code }) => code) });
    else {
      const id = idOf(value);
      if (id === undefined) return null;
      wanted.push({ step, code: kind === "path" ? pathCode(id) : nameCode(id) });
    }
  }
  return wanted;
}

async function find(read: Read, own: Own, way: readonly Node[]): Promise<Behind> {
  const found = await selectWays(read, own);
  const wanted = await wantedSteps(read, found, own, way);
  if (wanted === null) return { actors: new Int32Array(0), ms: new Float64Array(0) };
  const { selected, ways } = found;
  return await selected.scan(JOURNEY_BEHIND, () => ({ ways, wanted }));
}

/** Whose ways go through a node, along a link or by a path: visits, or with scope=actor people. */
export const JOURNEY_BEHIND_NODES: NumberedRead = {
  name: "journeys",
  parameters: Object.keys(JOURNEYS.parameters),
  ask: (query, listed) => {
    const own = readOwn(query);
    refuseListed(listed, own.of === "actor" ? "people" : "visits");
    const { way } = readJson(query, "place", Place)!;
    const isBeyond = way.some(({ step, kind }) => step > own.steps || kind === "end" && step === 1);
    if (isBeyond) throw invalidParameter("place", `The ways have ${own.steps} steps.`);
    return {
      find: (read) => find(read, own, way),
      asking: askingOf({ of: [own.start, own.end] }),
    };
  },
};
