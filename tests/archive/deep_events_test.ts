import assert from "node:assert/strict";
import { parquetReadObjects } from "hyparquet";
import { EVENT_LEVELS_MAX } from "../../src/ingest/ingest_limits.ts";
import { NESTING_LEVELS_MAX } from "../../src/limits.ts";
import { type Json, newEvent } from "../support/app.ts";
import { done, withApp, withEmbedded, withFile } from "./archive_world.ts";

/** So many levels of objects and arrays in turn. */
function nested(levels: number, isObject = true): unknown {
  if (levels === 0) return 1;
  const inner = nested(levels - 1, !isObject);
  return isObject ? { a: inner } : [inner];
}

const SENT = Array.from({ length: 3 }, () =>
  newEvent({
    name: "deep",
    userId: "u",
    properties: nested(NESTING_LEVELS_MAX),
    unknown: nested(EVENT_LEVELS_MAX),
    type: nested(EVENT_LEVELS_MAX, false),
    context: { unknown: nested(EVENT_LEVELS_MAX - 1), viewport: nested(EVENT_LEVELS_MAX - 1) },
  }));

// Texts are compared: `assert.deepEqual` itself follows no such depth.
const textOf = ({ properties, extra }: Json): string => {
  const { server: _, ...own } = properties as Json;
  return JSON.stringify([own, extra]);
};
const EXPECTED = SENT.map(({ properties, unknown, type, context }) =>
  textOf({ properties, extra: { unknown, type, context } })
);

function assertKept(events: Json[]): void {
  assert.ok(events.length === EXPECTED.length);
  for (const event of events) assert.ok(EXPECTED[0] === textOf(event));
}

Deno.test("an event as deep as it can be is listed, exported, archived and read in again", async () => {
  await withFile((archive) =>
    withEmbedded((env) =>
      withEmbedded(async (restored) => {
        await withApp(env, async (app) => {
          const { body: keys } = await app.admin("GET", "/v1/projects/prj_default/keys");
          const project = { id: "prj_default", publicKey: keys.keys[0].key, secretKey: "" };
          const { body } = await app.post(project, SENT);
          assert.equal(body.accepted, SENT.length, JSON.stringify(body));
          assertKept(await app.stored(project));
          const filters = '[{"field":"name","op":"is","values":["deep"]}]';
          assertKept(await app.stored(project, { filters }));
        });
        const file = (format: string) => `${archive}.${format}`;
        for (const format of ["ndjson", "csv", "parquet"]) {
          const { events } = await done(
            env,
            "export",
            "--format",
            format,
            "--output",
            file(format),
          );
          assert.equal(events, SENT.length, format);
        }
        const lines = (await Deno.readTextFile(file("ndjson"))).trimEnd().split("\n");
        assertKept(lines.map((line) => JSON.parse(line)));
        const parquet = (await Deno.readFile(file("parquet"))).buffer;
        assertKept(await parquetReadObjects({ file: parquet }));
        const csv = await Deno.readTextFile(file("csv"));
        const extra = JSON.stringify(JSON.parse(EXPECTED[0]!)[1]).replaceAll('"', '""');
        assert.equal(csv.split(extra).length, 1 + SENT.length);

        await done(env, "archive", archive);
        const { compared } = await done(restored, "restore", archive);
        assert.deepEqual(compared.map(({ verdict }: Json) => verdict), ["same"]);
        await done(env, "project", "create", "--name", "Again", "--id", "prj_again");
        const again = await done(env, "import", file("ndjson"), "--project", "prj_again");
        assert.equal(again.accepted, SENT.length, JSON.stringify(again));
        const { events } = await done(env, "export", "--project", "prj_again", "--output", archive);
        assert.equal(events, SENT.length);
        const copies = (await Deno.readTextFile(archive)).trimEnd().split("\n");
        assertKept(copies.map((line) => JSON.parse(line)));
      })
    )
  );
});
