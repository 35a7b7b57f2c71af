import assert from "node:assert/strict";
import fc from "fast-check";
import type { KeptJournalBlock } from "../../src/store/journal_events.ts";
import { JournalBlocks } from "../../src/timelines/journal_blocks.ts";

const COLUMNS = { events: 0, ids: new Uint8Array(), same: {}, coded: {} };

/** Returns a block with this end and weight; counts how often an end is looked at. */
function blocksBy() {
  const counted = { looks: 0 };
  const blockOf = (toMs: number, bytes = 1): KeptJournalBlock => ({
    head: "",
    columns: COLUMNS,
    moments: new Float64Array(),
    bytes,
    get toMs() {
      counted.looks++;
      return toMs;
    },
  });
  return { counted, blockOf };
}

Deno.test("journal blocks: of thousands, a few are looked at for those near a moment", () => {
  const { counted, blockOf } = blocksBy();
  const blocks = new JournalBlocks(100_000);
  const kept = 16_000;
  // In no order of their ends, among those of another project.
  for (let i = 0; i < kept; i++) {
    const at = i * 7 % kept;
    blocks.set(1, at, blockOf(10 * at));
    blocks.set(2, at, blockOf(10 * at));
  }
  counted.looks = 0;
  const near = blocks.near(1, 50_000, 40, 10);
  assert.deepEqual([...near.keys()], Array.from({ length: 50 }, (_, i) => 4_960 + i));
  assert.ok(counted.looks <= 20, `${counted.looks} looks`);
  counted.looks = 0;
  blocks.set(1, 5_000, blockOf(7));
  assert.ok(counted.looks <= 80, `${counted.looks} looks`);
});

Deno.test("journal blocks: those near a moment are kept ones, whatever was set and evicted", () => {
  const { blockOf } = blocksBy();
  const bytesMax = 12;
  const set = fc.record({
    projectId: fc.integer({ min: 1, max: 2 }),
    journalId: fc.integer({ min: 1, max: 6 }),
    // An empty block has no end.
    toMs: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constant(-Infinity)),
    bytes: fc.integer({ min: 1, max: bytesMax + 1 }),
  });
  fc.assert(fc.property(fc.array(set, { maxLength: 30 }), fc.nat(6), (sets, ms) => {
    const blocks = new JournalBlocks(bytesMax);
    for (const { projectId, journalId, toMs, bytes } of sets) {
      blocks.set(projectId, journalId, blockOf(toMs, bytes));
    }
    for (const projectId of [1, 2]) {
      const kept = Array.from({ length: 6 }, (_, i) => i + 1)
        .flatMap((id) => {
          const block = blocks.get(projectId, id);
          return block === undefined ? [] : [{ id, block }];
        })
        .sort((a, b) => a.block.toMs < b.block.toMs ? -1 : +(a.block.toMs > b.block.toMs));
      const all = new Map(kept.map(({ id, block }) => [id, block]));
      assert.deepEqual([...blocks.near(projectId, ms, 9, 9)], [...all]);
      const before = kept.filter(({ block }) => block.toMs < ms).map(({ id }) => id);
      const after = kept.filter(({ block }) => block.toMs >= ms).map(({ id }) => id);
      const ids = [...before.slice(-2), ...after.slice(0, 1)];
      assert.deepEqual([...blocks.near(projectId, ms, 2, 1).keys()], ids);
    }
  }));
});
