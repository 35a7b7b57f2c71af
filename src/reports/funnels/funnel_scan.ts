import { sessionFieldId } from "../../query/filter_conditions.ts";
import { isSessionField, onEvents } from "../../query/filters.ts";
import { matchFilters, type Span } from "../../query/selection.ts";
import { unnamedInteractions } from "../../reserved_terms.ts";
import { withoutTechnical, withoutUnnamed } from "../../query/technical.ts";
import { spanOf } from "../../query/range.ts";
import { windowMs } from "../../query/window.ts";
import { eventPasses } from "../../scans/event_tests.ts";
import { fieldValueIds, lazyColumnsOf } from "../../scans/field_value_ids.ts";
import type { FilterBits } from "../../scans/filter_bits.ts";
import { matchPasses } from "../../scans/match_passes.ts";
import type { Read } from "../../scans/read.ts";
import { selecting } from "../../scans/selected_events.ts";
import { type SelectedTimelines, selectTimelines } from "../../scans/selected_timelines.ts";
import type { FunnelDefinition } from "./funnel_definition.ts";
import { readTexts } from "../../scans/value_texts.ts";
import { FUNNEL, type FunnelInputs } from "./funnel_visitor.ts";

/** Returns where the ids of the values at entries are, and how to look the values up; null: without `by`. */
async function entryValuesOf(
  { sql, scope }: Pick<Read, "sql" | "scope">,
  selected: SelectedTimelines,
  { steps, order, by }: FunnelDefinition,
  span: Span,
) {
  if (by === null) return null;
  if (isSessionField(by)) {
    const textsOf = (ids: readonly number[]) => readTexts(sql, scope, by, ids);
    return { from: { session: sessionFieldId(by) }, textsOf };
  }
  const entering = order === "unordered" ? steps : steps.slice(0, 1);
  const { eventFilters: filters, timelines } = selected;
  const matches = await matchPasses(sql, { ...scope, filters }, entering, timelines.bits);
  const { from, textsOf } = await fieldValueIds({ sql, scope }, by, span, selected, matches);
  return { from: { column: from }, textsOf };
}

/** Resolves the filters on events, and which of the events that pass are steps or excluded. */
async function funnelPasses(
  { sql, scope }: Pick<Read, "sql" | "scope">,
  bits: Promise<FilterBits>,
  definition: FunnelDefinition,
): Promise<Pick<FunnelInputs, "scope" | "between" | "passedOver" | "matches">> {
  const { order, steps } = definition;
  const eventFilters = onEvents(scope.filters);
  const named = [...steps, ...definition.exclude];
  const lists = [
    withoutUnnamed(eventFilters, named),
    withoutUnnamed(eventFilters, steps),
    ...named.map((match) => withoutTechnical(matchFilters(match), eventFilters)),
  ];
  const [all, between, ...matches] = await eventPasses(sql, scope, scope.bots, lists, bits);
  const passed = order === "strict" ? unnamedInteractions(definition.steps) : null;
  return { scope: all!, between: between!.names, passedOver: passed, matches };
}

export type FoundAttempts = Awaited<ReturnType<typeof findAttempts>>;

/**
 * Finds the attempt of each actor that counts. Every actor is followed from the first possible entry
 * to the end of the last one's window. `textsOf` looks up the values of the attempts' ids; null without `by`.
 */
export async function findAttempts(
  read: Read,
  definition: FunnelDefinition,
  { withEntries }: Pick<FunnelInputs, "withEntries">,
) {
  const { range, asOfMs } = read;
  const { steps, exclude, order, entry, by } = definition;
  const lengthMs = windowMs(definition.window)!;
  const span = spanOf(range);
  const reach = { fromMs: span.fromMs, toMs: span.toMs + lengthMs };
  const [selected, passes] = await selecting(
    selectTimelines(read, reach, {
      filters: [...steps, ...exclude].flatMap((match) => match.filters),
      columns: lazyColumnsOf(by),
      sessions: by !== null && isSessionField(by),
    }),
    (bits) => funnelPasses(read, bits, definition),
  );
  const values = await entryValuesOf(read, selected, definition, span);
  const inputs: FunnelInputs = {
    ...passes,
    rules: { order, entry, stepCount: steps.length, windowMs: lengthMs, ...span },
    reach,
    by: values?.from ?? null,
    lateFromMs: asOfMs - lengthMs,
    withEntries,
  };
  const attempts = await selected.scan(FUNNEL, () => inputs, { askedEvents: inputs.scope });
  return { attempts, textsOf: values?.textsOf ?? null };
}
