import fc from "fast-check";
import assert from "node:assert/strict";
import {
  type CountedText,
  IDS_AT_ONCE,
  mostFrequent,
  mostFrequentOfEach,
  Ranking,
  type TextsOf,
} from "../../src/scans/most_frequent.ts";

/** Texts of ids, told as the database does; and how many were told at once, and in all. */
function telling(texts: readonly (string | null)[]) {
  const told = { atOnce: 0, asked: 0, all: 0 };
  const textsOf: TextsOf = (ids, most = Infinity) => {
    const known = ids.flatMap((id): [number, string][] =>
      texts[id] === null ? [] : [[id, texts[id]!]]
    );
    const first = known.sort(([, a], [, b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .slice(0, most);
    told.atOnce = Math.max(told.atOnce, ids.length);
    told.asked += ids.length;
    told.all += first.length;
    return Promise.resolve(new Map(first));
  };
  return { told, textsOf };
}

const bytes = (text: string | null) => Buffer.from(text ?? "\u{10ffff}");

/** The most frequent ids, by sorting all of them. */
function expectedOf(
  counts: Float64Array,
  texts: readonly (string | null)[],
  most: number,
): CountedText[] {
  return [...counts].map((count, id): CountedText => ({ text: texts[id]!, count, ids: [id] }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || Buffer.compare(bytes(a.text), bytes(b.text)))
    .slice(0, most);
}

Deno.test("most frequent: as sorting all has them, ties by text, the missing one last", async () => {
  const text = fc.string({ unit: fc.constantFrom("a", "B", "ä", "\uffff", "😀"), maxLength: 3 });
  const world = fc.uniqueArray(text, { maxLength: 40 }).chain((named) =>
    fc.record({
      // The first id stands for the missing value.
      texts: fc.constant([null, ...named]),
      counts: fc.array(fc.nat({ max: 3 }), {
        minLength: named.length + 1,
        maxLength: named.length + 1,
      }),
      most: fc.integer({ min: 1, max: 12 }),
    })
  );
  await fc.assert(fc.asyncProperty(world, async ({ texts, counts, most }) => {
    const own = Float64Array.from(counts);
    const { textsOf } = telling(texts);
    const found = await mostFrequent({ counts: own, idAt: (place) => place }, most, textsOf);
    assert.deepEqual(found, expectedOf(own, texts, most));
  }));
});

Deno.test("most frequent: of many ties a few texts at once, and no other work waits for them", async () => {
  const ids = 30 * IDS_AT_ONCE;
  const texts = Array.from({ length: ids }, (_, id) => `order ${String(id * 7 % ids)}`);
  const counts = new Float64Array(ids).fill(1);
  counts[5] = counts[6] = 2;
  counts[7] = 0;
  const { told, textsOf } = telling(texts);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const found = await mostFrequent({ counts, idAt: (place) => place }, 25, textsOf);
  clearInterval(timer);
  assert.deepEqual(found, expectedOf(counts, texts, 25));
  assert.equal(told.atOnce, IDS_AT_ONCE);
  // Those of the two above, and in each look-up as many as there are places left.
  assert.deepEqual([told.asked, told.all], [ids - 1, 2 + 30 * 23]);
  assert.ok(turns > 0);
});

Deno.test("most frequent: ids that no tie can bring in are not looked up", async () => {
  const counts = Float64Array.from({ length: 1_000 }, (_, id) => id);
  const { told, textsOf } = telling(Array.from(counts, String));
  const found = await mostFrequent({ counts, idAt: (place) => place }, 3, textsOf);
  assert.deepEqual(found.map(({ text }) => text), ["999", "998", "997"]);
  assert.equal(told.asked, 3);
});

Deno.test("a ranking keeps the first of what it is offered, whatever the order", () => {
  const one = fc.record({
    text: fc.option(fc.constantFrom("a", "b", "c")),
    count: fc.nat({ max: 2 }),
  });
  fc.assert(fc.property(fc.array(one), fc.integer({ min: 1, max: 5 }), (some, most) => {
    const offered = some.map((counted, id) => ({ ...counted, ids: [id] }));
    const ranking = new Ranking(most);
    for (const counted of offered.toReversed()) ranking.offer(counted);
    const sorted = offered.toSorted((a, b) =>
      b.count - a.count || Buffer.compare(bytes(a.text), bytes(b.text)) || a.ids[0]! - b.ids[0]!
    );
    assert.deepEqual(ranking.ranked, sorted.slice(0, most));
  }));
});

Deno.test("most frequent: few ids of several lists are looked up together", async () => {
  const lists = [[3, 1, 2], [0, 5, 5]].map((counts) => ({
    counts: Int32Array.from(counts),
    idAt: (place: number) => place,
  }));
  let asked: readonly number[][] = [];
  const { textsOf } = telling(["c", "b", "a"]);
  const found = await mostFrequentOfEach(lists, 2, (ids, most) => {
    asked = [...asked, [...ids]];
    return textsOf(ids, most);
  });
  assert.deepEqual(found.map((own) => own.map(({ text }) => text)), [["c", "a"], ["a", "b"]]);
  assert.deepEqual(asked, [[0, 2, 1]]);
});
