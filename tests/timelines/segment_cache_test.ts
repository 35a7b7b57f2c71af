import fc from "fast-check";
import assert from "node:assert/strict";
import type { BinaryRow } from "../../src/db/binary_rows.ts";
import type { Param, Row } from "../../src/db/sql.ts";
import { loadTimelines } from "../../src/timelines/timelines.ts";
import { LoadedSegment } from "../../src/timelines/loaded_segment.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import { SegmentTable } from "../store/segment_table.ts";
import { segmentsOf } from "../support/read_timelines.ts";
import {
  encodedSegment,
  loadedSegment,
  loadingInPlace,
  type Segment,
  segmentOfTold,
  told,
} from "./timeline_world.ts";
import { SEGMENT_FETCH_BYTES_MAX } from "../../src/limits.ts";

/** What a segment of one event weighs without its times: 4 + 8 + 1 + 1 + 1, and the bits of its run: 4. */
const BARE_BYTES = 19;

/** One that weighs so many bytes. */
function weighing(segmentId: number, bytes: number): LoadedSegment {
  const names = Uint8Array.of(1);
  return new LoadedSegment({
    segmentId,
    fromMs: 0,
    toMs: 0,
    identities: Int32Array.of(segmentId),
    starts: Uint32Array.of(0, 1),
    times: new Uint32Array((bytes - BARE_BYTES - 1) / 4),
    names,
    paths: Uint8Array.of(0),
    contexts: Uint8Array.of(1),
    traffics: Uint8Array.of(1),
    passives: new Uint8Array(0),
    runBits: Int32Array.of(4),
  });
}

const BYTES = 100;
const fetchNothing = () => Promise.reject(new Error("nothing was to be fetched"));

/** Fetches segments of 100 bytes, and notes which. */
function fetches(fetched: number[] = []) {
  return (ids: readonly number[]) => {
    fetched.push(...ids);
    return Promise.resolve(ids.map((id) => weighing(id, BYTES)).reverse());
  };
}

Deno.test("SegmentCache: cached segments are not fetched, and all are returned in the order of the ids", async () => {
  const cache = new SegmentCache(10 * BYTES);
  const fetched: number[] = [];
  const first = await cache.load([3, 1], fetches(fetched));
  const second = await cache.load([1, 2, 3], fetches(fetched));
  assert.deepEqual(second.map(({ segmentId }) => segmentId), [1, 2, 3]);
  assert.deepEqual(fetched, [3, 1, 2]);
  assert.equal(second[2], first[0]);
  assert.equal(cache.get(1), first[1]);
  assert.equal(cache.get(4), undefined);
  assert.equal(cache.bytes, 3 * BYTES);
});

Deno.test("SegmentCache: the least recently used is evicted first, and what is too large is not cached", async () => {
  const cache = new SegmentCache(3 * BYTES);
  await cache.load([1, 2, 3], fetches());
  cache.get(1);
  await cache.load([2], fetchNothing);
  await cache.load([4], fetches());
  assert.deepEqual([1, 2, 3, 4].map((id) => cache.get(id) !== undefined), [
    true,
    true,
    false,
    true,
  ]);
  const large = weighing(5, 4 * BYTES);
  assert.deepEqual(await cache.load([5], () => Promise.resolve([large])), [large]);
  assert.equal(cache.get(5), undefined);
  assert.equal(cache.bytes, 3 * BYTES);
  const [two] = await cache.load([6], () => Promise.resolve([weighing(6, 2 * BYTES)]));
  assert.equal(cache.get(6), two);
  assert.equal(cache.bytes, 3 * BYTES);
});

Deno.test("SegmentCache: agrees with a list in the order of use for any sequence of reads", async () => {
  const asked = fc.array(
    fc.uniqueArray(fc.nat({ max: 9 }), { maxLength: 4 }),
    { maxLength: 30, size: "max" },
  );
  await fc.assert(fc.asyncProperty(asked, fc.integer({ min: 0, max: 12 }), async (loads, room) => {
    const sizeOf = (id: number) => BARE_BYTES + 1 + 40 * id;
    const cache = new SegmentCache(room * 50);
    let model: number[] = [];
    for (const ids of loads) {
      const missing: number[] = [];
      const segments = await cache.load(ids, (wanted) => {
        missing.push(...wanted);
        return Promise.resolve(wanted.map((id) => weighing(id, sizeOf(id))));
      });
      assert.deepEqual(segments.map(({ segmentId }) => segmentId), ids);
      assert.deepEqual(missing, ids.filter((id) => !model.includes(id)));
      const hits = ids.filter((id) => model.includes(id));
      model = [...model.filter((id) => !hits.includes(id)), ...hits];
      for (const id of missing.filter((id) => sizeOf(id) <= room * 50)) {
        model.push(id);
        while (model.reduce((sum, one) => sum + sizeOf(one), 0) > room * 50) model.shift();
      }
      assert.equal(cache.bytes, model.reduce((sum, one) => sum + sizeOf(one), 0));
    }
  }));
});

Deno.test("SegmentCache: a fetch under way is awaited, even if its segment will not be cached", async () => {
  const cache = new SegmentCache(0);
  const begun = Promise.withResolvers<LoadedSegment[]>();
  const fetched: number[] = [];
  const first = cache.load([1, 2], () => begun.promise);
  const second = cache.load([2, 3, 1], fetches(fetched));
  begun.resolve([weighing(1, BYTES), weighing(2, BYTES)]);
  const [ones, others] = await Promise.all([first, second]);
  assert.deepEqual(others.map(({ segmentId }) => segmentId), [2, 3, 1]);
  assert.deepEqual([others[0], others[2]], [ones[1], ones[0]]);
  assert.deepEqual(fetched, [3]);
});

Deno.test("SegmentCache: a failed fetch is not remembered, and reads that waited for it fetch again", async () => {
  const cache = new SegmentCache(10 * BYTES);
  const begun = Promise.withResolvers<LoadedSegment[]>();
  const fetched: number[] = [];
  const first = cache.load([1], () => begun.promise);
  const second = cache.load([1, 2], fetches(fetched));
  const third = cache.load([1], fetches(fetched));
  begun.reject(new Error("the connection is lost"));
  await assert.rejects(first, /the connection is lost/);
  assert.deepEqual((await second).map(({ segmentId }) => segmentId), [1, 2]);
  assert.deepEqual((await third).map(({ segmentId }) => segmentId), [1]);
  assert.deepEqual(fetched.toSorted(), [1, 2]);
  await assert.rejects(cache.load([7], () => Promise.reject(new Error("away"))), /away/);
  assert.equal((await cache.load([7], fetches()))[0]!.segmentId, 7);
});

Deno.test("SegmentCache: a segment that its fetch did not return is an error", async () => {
  const cache = new SegmentCache(10 * BYTES);
  await assert.rejects(
    cache.load([1, 2], () => Promise.resolve([weighing(1, BYTES)])),
    /Segment 2 of a timeline is gone/,
  );
});

/** A segment of one event of the identity of this number. */
const oneOf = (identity: number): Segment => segmentOfTold([told(identity, 0, 1)])!;

/** What it weighs once it is decoded: eight columns side by side, each of which begins at a multiple of 8. */
const ONE_BYTES = 8 * 8;

/** A database of segments, which tells each a size, and notes what is fetched together. */
class FakeSql extends SegmentTable {
  linksFetched = 0;
  linksVersion = 0;
  links = new Map<number, number>();

  constructor(readonly sizes: ReadonlyMap<number, number>) {
    super(new Map([...sizes.keys()].map((id) => [id, encodedSegment(oneOf(id))])));
  }

  override query<R extends Row>(text: string): Promise<R[]> {
    assert.match(text, /FROM projections/);
    const links_version = this.linksVersion;
    const rows = [...this.sizes].map(([segment_id, bytes]) => ({
      segment_id,
      bytes,
      text_bytes: 0,
      links_version,
    }));
    return Promise.resolve(rows as Row[] as R[]);
  }

  override binary(text: string, params: readonly Param[]): Promise<BinaryRow[]> {
    if (!text.includes("FROM identities")) return super.binary(text, params);
    this.linksFetched++;
    const pairs = new DataView(new ArrayBuffer(8 * this.links.size));
    [...this.links].flat().forEach((id, i) => pairs.setInt32(4 * i, id));
    return Promise.resolve([[new Uint8Array(pairs.buffer)]]);
  }
}

const SPAN = { fromMs: 0, toMs: 1 };

Deno.test("loadTimelines: only missing segments are fetched, a few at a time", async () => {
  const most = SEGMENT_FETCH_BYTES_MAX;
  const sql = new FakeSql(
    new Map([[9, 10], [1, most / 2], [5, most / 2], [2, 1], [3, 2 * most], [4, 1], [8, most - 1]]),
  );
  const cache = new SegmentCache(10 * most);
  await cache.load([9], fetches());
  const timelines = await loadTimelines(loadingInPlace(sql, cache), 1, SPAN);
  assert.deepEqual(sql.fetched, [[1, 5], [2], [3], [4, 8]]);
  const segments = await segmentsOf(timelines);
  assert.deepEqual(segments.map(({ segmentId }) => segmentId), [9, 1, 5, 2, 3, 4, 8]);
  assert.deepEqual(segments[1], loadedSegment(oneOf(1), 1));
  assert.deepEqual([...timelines.actorOf], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

Deno.test("loadTimelines: cached segments are used even if they do not fit the cache with the rest", async () => {
  const sql = new FakeSql(new Map([1, 2, 3, 4].map((id) => [id, 1])));
  // Room for two segments, and for who the identities from 0 to 4 are.
  const cache = new SegmentCache(2 * ONE_BYTES + 5 * 4 + 4);
  await loadTimelines(loadingInPlace(sql, cache), 1, SPAN);
  await loadTimelines(loadingInPlace(sql, cache), 1, SPAN);
  assert.deepEqual(sql.fetched, [[1, 2, 3, 4], [1, 2]]);
});

Deno.test("loadTimelines: links are fetched again once they have changed", async () => {
  const cache = new SegmentCache(10 * BYTES);
  const sql = new FakeSql(new Map([[1, 10], [2, 10]]));
  sql.links.set(2, 3);
  const actorsOf =
    async () => [...(await loadTimelines(loadingInPlace(sql, cache), 1, SPAN)).actorOf];
  assert.deepEqual(await actorsOf(), [0, 1, 3, 3]);
  sql.links.set(1, 3);
  const later = new FakeSql(new Map([[1, 10], [6, 10]]));
  const longer = (await loadTimelines(loadingInPlace(later, cache), 1, SPAN)).actorOf;
  assert.deepEqual([[...longer], later.linksFetched], [[0, 1, 3, 3, 4, 5, 6], 0]);
  sql.linksVersion++;
  assert.deepEqual(await actorsOf(), [0, 3, 3, 3]);
  assert.equal(sql.linksFetched, 2);
  await loadTimelines(loadingInPlace(later, cache), 2, SPAN);
  assert.equal(later.linksFetched, 1);
});

Deno.test("loadTimelines: side by side in one snapshot, links are fetched once", async () => {
  const cache = new SegmentCache(10 * BYTES);
  const sql = new FakeSql(new Map([[1, 10], [2, 10]]));
  sql.links.set(2, 3);
  const load = () => loadTimelines(loadingInPlace(sql, cache), 1, SPAN);
  const [one, other] = await Promise.all([load(), load()]);
  assert.deepEqual([[...one.actorOf], sql.linksFetched], [[0, 1, 3, 3], 1]);
  assert.equal(one.actorOf, other.actorOf);
});

Deno.test("loadTimelines: the actors of ever more projects take no more than their share", async () => {
  const bytesMax = 1_000_000;
  const cache = new SegmentCache(bytesMax);
  const sql = new FakeSql(new Map([[1, 10]]));
  sql.links.set(1, 5_000);
  for (let projectId = 1; projectId <= 100; projectId++) {
    const use = cache.memory.enter();
    const { actorOf } = await loadTimelines(loadingInPlace(sql, cache, use), projectId, SPAN);
    assert.deepEqual([actorOf[1], actorOf.length], [5_000, 5_001]);
    await use.end();
  }
  assert.ok(cache.memory.bytes <= bytesMax, `${cache.memory.bytes} bytes`);
  const before = sql.linksFetched;
  await loadTimelines(loadingInPlace(sql, cache), 100, SPAN);
  assert.equal(sql.linksFetched, before);
});

Deno.test("loadTimelines: if links or segments fail, no statement is left under way", async () => {
  type Fails = (text: string, params: readonly Param[]) => boolean;
  class FailingSql extends FakeSql {
    fails: Fails = () => false;
    underWay = 0;

    override async binary(text: string, params: readonly Param[]): Promise<BinaryRow[]> {
      this.underWay++;
      try {
        // What does not fail takes longer than what does.
        if (this.fails(text, params)) throw new Error("it is away");
        await new Promise((resolve) => setTimeout(resolve, 20));
        return await super.binary(text, params);
      } finally {
        this.underWay--;
      }
    }
  }
  const isOfLinks = (text: string) => text.includes("FROM identities");
  const failures: Record<string, Fails> = {
    links: isOfLinks,
    segments: (text) => !isOfLinks(text),
    // While the next ones are fetched.
    "the first segment": (text, [, ids]) =>
      !isOfLinks(text) && !text.includes("head") && !String(ids).includes("2"),
  };
  for (const [failing, fails] of Object.entries(failures)) {
    const sql = new FailingSql(new Map([[1, SEGMENT_FETCH_BYTES_MAX], [2, 10]]));
    sql.fails = fails;
    const cache = new SegmentCache(10 * SEGMENT_FETCH_BYTES_MAX);
    await assert.rejects(loadTimelines(loadingInPlace(sql, cache), 1, SPAN), /it is away/, failing);
    assert.equal(sql.underWay, 0, failing);
  }
});

Deno.test("loadTimelines: timelines are built once, until segments or links change", async () => {
  const cache = new SegmentCache(10 * BYTES);
  const sql = new FakeSql(new Map([[1, 10], [2, 10]]));
  const timelinesOf = async (sql: FakeSql, projectId = 1) => {
    const use = cache.memory.enter();
    const { parts } = await loadTimelines(loadingInPlace(sql, cache, use), projectId, SPAN);
    const [part] = await Array.fromAsync(parts());
    return await part!.timelines();
  };
  const { columns: first, placeOf } = await timelinesOf(sql);
  assert.deepEqual([[...first.offsets], placeOf], [[0, 0, 1, 2], null]);
  assert.equal((await timelinesOf(sql)).columns, first);
  // Those of fewer segments are picked out of them.
  const fewer = new FakeSql(new Map([[2, 10]]));
  assert.deepEqual(await timelinesOf(fewer), {
    ...{ columns: first, placeOf: Int32Array.of(-1, 0), touched: null },
  });
  assert.notEqual((await timelinesOf(sql, 2)).columns, first);
  sql.links.set(2, 1);
  sql.linksVersion++;
  const linked = await timelinesOf(sql);
  assert.deepEqual([[...linked.columns.offsets], linked.placeOf], [[0, 0, 2, 2], null]);
});

Deno.test("loadTimelines: for a few further segments, only the timelines of their actors are built", async () => {
  const cache = new SegmentCache(100 * BYTES);
  const timelinesOf = async (segments: number) => {
    const ids = Array.from({ length: segments }, (_, i) => [i + 1, 10] as const);
    const loading = loadingInPlace(new FakeSql(new Map(ids)), cache);
    const [part] = await Array.fromAsync((await loadTimelines(loading, 1, SPAN)).parts());
    return await part!.timelines();
  };
  const { columns: first } = await timelinesOf(14);
  const two = await timelinesOf(16);
  assert.equal(two.columns, first);
  assert.deepEqual([...two.touched!.actors], [15, 16]);
  const three = await timelinesOf(17);
  assert.notEqual(three.columns, first);
  assert.equal(three.touched, null);
});

Deno.test("loadTimelines: read as a whole if all that the read needs of its events fits", async () => {
  const bytes = 170 * BYTES;
  const isKept = async (eventBytes: number, size: number) => {
    const cache = new SegmentCache(bytes);
    const sql = new FakeSql(new Map([[1, size]]));
    await loadTimelines(loadingInPlace(sql, cache), 1, SPAN, { eventBytes });
    return cache.get(1) !== undefined;
  };
  // An event takes 14 bytes, the timelines it is in 3, and its lazy columns what they take.
  const events = (count: number) => 14 * count;
  assert.deepEqual([await isKept(0, events(1_000)), await isKept(0, events(1_001))], [true, false]);
  assert.deepEqual([await isKept(3, events(850)), await isKept(3, events(851))], [true, false]);
});
