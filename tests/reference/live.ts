import { type ReadParams, selectedEvents } from "./filters.ts";
import { actorsOf, type World } from "./world.ts";

const MINUTE_MS = 60_000;

export interface LiveResult {
  readonly visitors: { readonly last5Minutes: number; readonly last30Minutes: number };
}

/** `GET /v1/live`: who was seen in the minutes up to now, both ends included. */
export function readLive(world: World, params: Pick<ReadParams, "filters" | "bots">): LiveResult {
  const selected = selectedEvents(world, params);
  const seenWithin = (minutes: number) =>
    actorsOf(
      selected.filter(({ atMs }) =>
        atMs <= world.asOfMs && atMs >= world.asOfMs - minutes * MINUTE_MS
      ),
    ).size;
  return { visitors: { last5Minutes: seenWithin(5), last30Minutes: seenWithin(30) } };
}
