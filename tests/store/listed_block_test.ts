import assert from "node:assert/strict";
import {
  decodeBlock,
  encodeBlock,
  journalEvents,
  type PendingRow,
  UnreadableBlock,
  waitingEvents,
} from "../../src/store/journal_block.ts";
import { ListedBlock } from "../../src/store/listed_block.ts";
import { newRow } from "../support/event_rows.ts";

const PROJECT = 7;
const COUNT = 40;

/** Events some of whose members are alike throughout, others in runs, and others of each its own. */
const ROWS = Array.from({ length: COUNT }, (_, i) => ({
  ...newRow(),
  project_id: PROJECT,
  occurred_at: new Date(1_800_000_000_000 + 7 * i % 30).toISOString(),
  name: ["pageview", "click"][i % 2]!,
  bot: i % 5 === 0,
  title: i < 20 ? "Home" : null,
  properties: i % 3 === 0 ? JSON.stringify({ i }) : null,
}));
const ids = ROWS.map(({ event_id }) => event_id);

const rowOf = (members: Partial<PendingRow> = {}): PendingRow => ({
  project_id: PROJECT,
  block: encodeBlock(ROWS),
  known_ids: null,
  projected_count: 0,
  set_aside_ids: null,
  ...members,
});

Deno.test("ListedBlock: rows at places are those of the whole block", () => {
  const row = rowOf();
  const block = new ListedBlock(row);
  const decoded = decodeBlock(row.block, PROJECT);
  assert.deepEqual(block.stored.map((place) => block.rowAt(place)), decoded);
  for (const [place, { event_id, occurred_at, bot }] of decoded.entries()) {
    assert.deepEqual([block.idAt(place), block.msAt(place), block.isBotAt(place)], [
      event_id,
      Date.parse(occurred_at),
      bot === true,
    ]);
  }
});

Deno.test("ListedBlock: places of what was stored, and of what waits, are those of the whole block", () => {
  const states: Partial<PendingRow>[] = [
    {},
    { known_ids: [ids[3]!, ids[30]!] },
    { projected_count: 25 },
    { known_ids: [ids[3]!, ids[30]!], projected_count: 25, set_aside_ids: [ids[3]!, ids[4]!] },
    { projected_count: COUNT },
  ];
  for (const state of states) {
    const row = rowOf(state);
    const block = new ListedBlock(row);
    const idsAt = (places: readonly number[]) => places.map((place) => block.idAt(place));
    assert.deepEqual(idsAt(block.stored), journalEvents(row).map(({ event_id }) => event_id));
    assert.deepEqual(idsAt(block.waiting), waitingEvents(row).map(({ event_id }) => event_id));
  }
});

Deno.test("ListedBlock: a damaged block is unreadable", () => {
  const block = encodeBlock(ROWS);
  block[block.length >> 1]! ^= 1;
  assert.throws(() => new ListedBlock(rowOf({ block })), UnreadableBlock);
});
