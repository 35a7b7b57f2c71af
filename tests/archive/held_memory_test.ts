/** What moving out and in holds at once, whatever the size of the history: counted, not measured. */
import assert from "node:assert/strict";
import {
  archiveBegin,
  type ArchiveHead,
  encodeEvents,
  encodeJson,
  readFrames,
} from "../../src/archive/archive_format.ts";
import { ARCHIVED_EVENTS_AIM, ARCHIVED_JSON_LENGTH_AIM } from "../../src/archive/archive_limits.ts";
import { eventText, Sum } from "../../src/archive/figures.ts";
import { gathered } from "../../src/archive/stored_events.ts";
import { forEachInFlight } from "../../src/cli/event_sender.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { encodeBlock } from "../../src/store/journal_block.ts";
import { newRow } from "../support/event_rows.ts";

const lengthOf = (rows: readonly EventRow[]) =>
  rows.reduce((sum, row) => sum + eventText(row).length, 0);

/** How many events stand in each block of an archive of these. */
async function blocksOf(rows: readonly EventRow[]): Promise<EventRow[][]> {
  const stored = ReadableStream.from([rows.slice(0, 100), rows.slice(100)]);
  return await Array.fromAsync(gathered(stored, new Sum()));
}

Deno.test("an archive's blocks: so many events, and fewer where they are large", async () => {
  const small = newRow();
  const counts = (blocks: readonly EventRow[][]) => blocks.map(({ length }) => length);
  for (
    const [events, expected] of [
      [ARCHIVED_EVENTS_AIM - 1, [ARCHIVED_EVENTS_AIM - 1]],
      [ARCHIVED_EVENTS_AIM, [ARCHIVED_EVENTS_AIM]],
      [ARCHIVED_EVENTS_AIM + 1, [ARCHIVED_EVENTS_AIM, 1]],
    ] as const
  ) {
    assert.deepEqual(counts(await blocksOf(Array(events).fill(small))), expected);
  }
  const large = newRow({ properties: JSON.stringify({ text: "x".repeat(32_000) }) });
  const blocks = await blocksOf(Array(200).fill(large));
  assert.ok(blocks.length > 5);
  for (const block of blocks) {
    assert.ok(lengthOf(block.slice(0, -1)) < ARCHIVED_JSON_LENGTH_AIM, "the last one fills it");
  }
});

Deno.test("an archive is read frame by frame: no further than the chunk in which one ends", async () => {
  const head: ArchiveHead = {
    ...{ id: "a", footfall: "0", schema: 1, madeAt: "2026-01-01T00:00:00.000Z" },
    ...{ project: null, secrets: false, projects: [], events: 100 },
  };
  const block = encodeBlock(Array.from({ length: 50 }, () => newRow()));
  const frames = Array.from({ length: 100 }, () => encodeEvents("prj_one", block));
  const all = await new Blob([archiveBegin(), encodeJson("head", head), ...frames]).bytes();
  const chunkBytes = 1_000;
  let given = 0;
  async function* chunks() {
    for (let at = 0; at < all.length; at += chunkBytes) {
      const chunk = all.slice(at, at + chunkBytes);
      given += chunk.length;
      yield await Promise.resolve(chunk);
    }
  }
  let read = 0;
  const whole = async () => {
    for await (const { at, bytes } of readFrames(chunks())) {
      read++;
      const end = at === archiveBegin().length ? bytes.length : at + bytes.length;
      assert.ok(given < end + chunkBytes);
    }
  };
  // It has no manifest.
  await assert.rejects(whole(), { name: "ArchiveRefused" });
  assert.equal(read, 1 + frames.length);
});

Deno.test("what is on its way: the next is taken once there is room for it", async () => {
  const atOnce = 3;
  let [taken, done, most] = [0, 0, 0];
  function* items() {
    for (let item = 0; item < 20; item++) {
      taken++;
      most = Math.max(most, taken - done);
      yield item;
    }
  }
  await forEachInFlight(items(), atOnce, async () => {
    await new Promise<void>((resolve) => setTimeout(resolve));
    done++;
  });
  assert.deepEqual([taken, done], [20, 20]);
  assert.equal(most, atOnce);
});
