import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { createProjection } from "../../src/projection/projection.ts";
import type { FilteredTimelines } from "../../src/scans/filtered_timelines.ts";
import { propertyValueIds } from "../../src/scans/property_value_ids.ts";
import { PROPERTY_TEXT_LENGTH_KEPT } from "../../src/scans/scan_limits.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { timelinesOf } from "../support/read_timelines.ts";

const FROM_MS = Date.parse("2026-03-02T00:00:00Z");
const EVER = { fromMs: FROM_MS, toMs: FROM_MS + 86_400_000 };
const EVENTS = 120;

/** A text of this length, the first of which are alike; the event's place tells it apart. */
const textOf = (at: number, length: number) => String(1_000 + at).padStart(length, "é");
/** As long as may be kept, one longer, and far longer. */
const LENGTHS = [PROPERTY_TEXT_LENGTH_KEPT, PROPERTY_TEXT_LENGTH_KEPT + 1, 5_000];
const TEXTS = Array.from({ length: EVENTS }, (_, at) => textOf(at, LENGTHS[at % 3]!));

const inBytes = (texts: readonly string[]) =>
  texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

onBothEngines(
  "property values: long texts are read again where they are asked for",
  async (t, db) => {
    const database = await openWithProjects(db);
    const rows = TEXTS.map((text, at) =>
      newRow({
        anonymous_id: `a${at % 40}`,
        occurred_at: new Date(FROM_MS + at * 60_000).toISOString(),
        // What else an event has makes it take more than a part may.
        properties: JSON.stringify({
          text,
          short: `s${at}`,
          other: randomBytes(2_000).toString("hex"),
        }),
      })
    );
    await insertEvents(database, rows.sort((a, b) => a.event_id < b.event_id ? -1 : 1));
    await createProjection(database).catchUp(1);

    for (const [name, cacheBytes] of [["as a whole", 10_000_000], ["in parts", 60_000]] as const) {
      await t.step(name, async () => {
        let reads = 0;
        const idsOf = async (key: string) => {
          const columns = [{ property: key }];
          const timelines = await timelinesOf(database, 1, cacheBytes)(EVER, [], columns);
          const parts: FilteredTimelines["parts"] = () => {
            reads++;
            return timelines.parts();
          };
          const values = propertyValueIds({ ...timelines, parts, prepare: timelines.prepare }, key);
          const found = await Array.fromAsync(timelines.parts());
          assert.equal(found.length > 1, cacheBytes < 1_000_000);
          return values;
        };
        const values = await idsOf("text");
        assert.equal(values.idMax, EVENTS);
        const all = Array.from({ length: EVENTS + 1 }, (_, id) => id);
        const texts = await values.textsOf(all);
        assert.equal(reads, 1);
        assert.deepEqual(inBytes([...texts.values()]), inBytes(TEXTS));
        assert.deepEqual([...(await values.textsOf(all, 7)).values()], inBytes(TEXTS).slice(0, 7));
        const some = [TEXTS[0]!, TEXTS[1]!, TEXTS[2]!, "unknown"];
        const found = await values.idsOf!(some);
        assert.deepEqual([...found.values()], some.slice(0, 3));
        for (const [id, text] of found) assert.equal(texts.get(id), text);

        reads = 0;
        const short = await (await idsOf("short")).textsOf(all);
        assert.deepEqual([short.size, reads], [EVENTS, 0]);
      });
    }
  },
);
