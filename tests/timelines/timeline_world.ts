import assert from "node:assert/strict";
import type { Sql } from "../../src/db/sql.ts";
import type { TimelineLoading, TimelinePart, Timelines } from "../../src/timelines/timelines.ts";
import type { SegmentColumns } from "../../src/timelines/hot_columns.ts";
import {
  type LoadedSegment,
  loadedSegment as segmentAsLoaded,
} from "../../src/timelines/loaded_segment.ts";
import { addRunBits } from "../../src/timelines/run_bits.ts";
import type { SegmentCache } from "../../src/timelines/segment_cache.ts";
import { MemoryScope, SharedMemory, type Take } from "../../src/timelines/shared_memory.ts";
import type { Timeline, VisitActor } from "../../src/timelines/timeline.ts";
import { buildTimelines } from "../../src/timelines/timeline_build.ts";
import { ActorTimelines } from "../../src/timelines/timeline_table.ts";
import { ID_BYTES, uuidOf } from "../../src/store/id_codec.ts";
import { columnFor } from "../../src/store/integer_codec.ts";
import type { EncodedSegment } from "../../src/store/segment_builder.ts";
import { SegmentTable } from "../store/segment_table.ts";
import { segmentOf } from "../store/segment_world.ts";
import { newRow } from "../support/event_rows.ts";
import { IN_PLACE } from "../support/in_place.ts";

/** Takes memory that nobody else uses. */
export const takeNew: Take = (bytes) => new SharedArrayBuffer(bytes);

/** An event that nothing else is told of; its name is its number. */
export interface Told {
  readonly identity: number;
  readonly ms: number;
  readonly number: number;
  readonly id: Uint8Array;
}

/** Ids whose order says nothing of the events' other order. */
export function idOf(number: number): Uint8Array {
  const id = new Uint8Array(ID_BYTES);
  new DataView(id.buffer).setUint32(12, Math.imul(number, 2_654_435_761) >>> 0);
  return id;
}

export function told(identity: number, ms: number, number: number): Told {
  return { identity, ms, number, id: idOf(number) };
}

/** The order of an actor's events. */
export function compareTold(a: Told, b: Told): number {
  return a.ms - b.ms || (a.id.toHex() < b.id.toHex() ? -1 : 1);
}

/** What reads know of some events, and the events. */
export interface Segment extends SegmentColumns {
  readonly told: readonly Told[];
}

export function segmentOfTold(events: readonly Told[]): Segment | null {
  const told = events.toSorted((a, b) => a.identity - b.identity || compareTold(a, b));
  if (told.length === 0) return null;
  const moments = told.map(({ ms }) => ms);
  const fromMs = moments.reduce((first, ms) => Math.min(first, ms));
  const starts = told.keys().filter((i) => told[i]!.identity !== told[i - 1]?.identity).toArray();
  const names = columnFor(
    0,
    told.reduce((max, { number }) => Math.max(max, number), 0),
    told.length,
  );
  names.set(told.map(({ number }) => number));
  return {
    fromMs,
    toMs: moments.reduce((last, ms) => Math.max(last, ms)),
    identities: Int32Array.from(starts, (at) => told[at]!.identity),
    starts: Uint32Array.of(...starts, told.length),
    times: Uint32Array.from(moments, (ms) => ms - fromMs),
    names,
    paths: new Uint8Array(told.length),
    contexts: new Uint8Array(told.length).fill(1),
    traffics: new Uint8Array(told.length).fill(1),
    passives: new Uint8Array(0),
    told,
  };
}

/** The same as it is stored. */
export function encodedSegment({ told }: Pick<Segment, "told">): Promise<EncodedSegment> {
  const row = newRow();
  return segmentOf(told.map(({ identity, ms, number, id }) => ({
    ...{ identity, ms, id, name: number, path: 0, context: 1, traffic: 1, title: 0, referrer: 0 },
    row: { ...row, event_id: uuidOf(id) },
  })));
}

/** Those that are not empty. */
export function segmentsOf(groups: readonly (readonly Told[])[]): Segment[] {
  return groups.map(segmentOfTold).filter((segment) => segment !== null);
}

/** A segment as reads follow it where they ask nothing of properties. */
export function loadedSegment({ told: _, ...columns }: Segment, segmentId: number): LoadedSegment {
  const runBits = new Int32Array(columns.identities.length);
  addRunBits({ ...columns, runBits }, 0, columns.times.length);
  return segmentAsLoaded(segmentId, { ...columns, runBits });
}

/** Loading on this thread alone. */
export function loadingInPlace(
  sql: Sql,
  cache: SegmentCache,
  use = cache.memory.enter(),
): TimelineLoading {
  return { sql, cache, use, perform: (job) => IN_PLACE.perform(job) };
}

/** One part of these segments. */
export function partsOf(segments: readonly LoadedSegment[]): Timelines["parts"] {
  return async function* () {
    yield await Promise.resolve<TimelinePart>({
      segments,
      memory: new MemoryScope(new SharedMemory(0)),
      timelines: () => Promise.reject(new Error("nobody builds them here")),
      readOn: () => {},
    });
  };
}

/** Segments in the order of their first event, each identity its own actor unless it is linked. */
export function timelinesOf(
  segments: readonly Segment[],
  links: ReadonlyMap<number, number>,
): Timelines {
  const last = Math.max(
    0,
    ...links.keys(),
    ...links.values(),
    ...segments.flatMap(({ identities }) => [...identities]),
  );
  const loaded = segments.map((segment, i) => loadedSegment(segment, i + 1))
    .toSorted((a, b) => a.fromMs - b.fromMs);
  return {
    projectId: 1,
    actorOf: Int32Array.from({ length: last + 1 }, (_, i) => links.get(i) ?? i),
    lastMs: loaded.reduce(
      (last, { fromMs, times }) => Math.max(last, fromMs + Math.max(...times)),
      -Infinity,
    ),
    parts: partsOf(loaded),
  };
}

/** Visits every actor with all that he did, by the timelines as they are built. */
export async function visitActors(
  sql: Sql,
  { projectId, actorOf, parts }: Timelines,
  visit: VisitActor,
): Promise<void> {
  for await (const { segments } of parts()) {
    const columns = await buildTimelines(sql, projectId, segments, actorOf, takeNew);
    const timelines = new ActorTimelines(segments, columns);
    for (let actor = 0; actor < actorOf.length; actor++) {
      if (timelines.goTo(actor)) visit(actor, timelines, timelines);
    }
  }
}

/** Stores a segment as it is, of whatever size. */
export async function storeSegment(sql: Sql, projectId: number, segment: Segment): Promise<void> {
  const { events, fromMs, toMs, textBytes, head, body } = await encodedSegment(segment);
  await sql.query(
    `INSERT INTO segments (project_id, from_ms, to_ms, events, text_bytes, version, head, body)
    VALUES ($1::int, $2::int8, $3::int8, $4::int, $5::int8, 1, decode($6::text, 'base64'),
      decode($7::text, 'base64'))`,
    [projectId, fromMs, toMs, events, textBytes, head.toBase64(), body.toBase64()],
  );
}

/** A table of segments, numbered from 1, which notes how often ids are looked up. */
export class IdTable extends SegmentTable {
  constructor(readonly segments: readonly Segment[]) {
    super(new Map(segments.map((segment, i) => [i + 1, encodedSegment(segment)])));
  }

  get lookUps(): number {
    return this.asked.length;
  }
}

/** The names of the events of a timeline, in its order. */
export function numbersOf(timeline: Timeline): number[] {
  const numbers: number[] = [];
  for (let i = timeline.first; i < timeline.end; i++) {
    assert.ok(timeline.starts[i]! < timeline.ends[i]!);
    const { names } = timeline.segments[timeline.segmentOf[i]!]!;
    numbers.push(...names.subarray(timeline.starts[i]!, timeline.ends[i]!));
  }
  return numbers;
}

/** What every timeline must be: each actor's events, sorted. */
export function expected(events: readonly Told[], links: ReadonlyMap<number, number>) {
  const byActor = Map.groupBy(events, ({ identity }) => links.get(identity) ?? identity);
  return [...byActor].map(([actor, own]) => ({
    actor,
    numbers: own.toSorted(compareTold).map(({ number }) => number),
  })).sort((a, b) => a.actor - b.actor);
}
