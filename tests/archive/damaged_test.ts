import assert from "node:assert/strict";
import { canMount, mountSmallDisk } from "../support/small_disk.ts";
import { encodeEvents, readFrames } from "../../src/archive/archive_format.ts";
import { FRAME_BYTES_MAX } from "../../src/archive/archive_limits.ts";
import { encodeBlock } from "../../src/store/journal_block.ts";
import { newEvent } from "../support/app.ts";
import { newRow } from "../support/event_rows.ts";
import {
  cli,
  done,
  type Env,
  withApp,
  withDatabase,
  withEmbedded,
  withFile,
} from "./archive_world.ts";

/** An archive of a small server. */
async function makeArchive(env: Env, file: string): Promise<Uint8Array<ArrayBuffer>> {
  await withApp(env, async (app) => {
    const project = await app.project({ id: "prj_one" });
    for (let batch = 0; batch < 3; batch++) {
      const events = Array.from({ length: 50 }, (_, i) => newEvent({ name: `event ${i}` }));
      assert.equal((await app.post(project, events)).status, 200);
    }
  });
  await done(env, "archive", file);
  return await Deno.readFile(file);
}

/** The bytes of each frame, by where it begins. */
async function framesIn(bytes: Uint8Array<ArrayBuffer>) {
  return await Array.fromAsync(readFrames(ReadableStream.from([bytes])));
}

async function assertRefused(
  env: Env,
  file: string,
  bytes: Uint8Array,
  says: RegExp,
): Promise<void> {
  await Deno.writeFile(file, bytes);
  const { code, result } = await cli(env, "restore", file);
  assert.equal(code, 1);
  assert.equal(result.error.code, "archive_refused", JSON.stringify(result));
  assert.match(result.error.detail, says);
}

const joined = (parts: readonly Uint8Array[]) => new Uint8Array(parts.flatMap((part) => [...part]));

Deno.test("restore: the error for a missing file, or a folder, is a sentence", async () => {
  await withFile((file) =>
    withEmbedded(async (env) => {
      const folder = file.replace(/\/[^/]*$/, "");
      for (const [path, says] of [[file, "There is no file "], [folder, " is a folder"]] as const) {
        const { code, result } = await cli(env, "restore", path);
        assert.equal(code, 1);
        assert.ok(result.error.detail.includes(says), JSON.stringify(result));
      }
    })
  );
});

Deno.test("restore: a file that is damaged or no archive is refused with the byte, and nothing is stored", async (t) => {
  await withFile((file) =>
    withEmbedded(async (env) => {
      const whole = await makeArchive(env, file);
      const frames = await framesIn(whole);
      await withEmbedded(async (target) => {
        const refuse = (bytes: Uint8Array, says: RegExp) =>
          assertRefused(target, file, bytes, says);
        await t.step("cut short anywhere", async () => {
          for (const frame of frames) {
            for (const end of [frame.at, frame.at + 4, frame.at + 20]) {
              const cut = Math.min(end, whole.length - 1);
              await refuse(whole.subarray(0, cut), new RegExp(`byte ${cut}\\b.*cut short`));
            }
          }
        });
        await t.step("a byte is another", async () => {
          for (const { at } of frames) {
            const other = whole.slice();
            other[at + 12]! ^= 0x40;
            await refuse(other, new RegExp(`byte ${at}\\b.*checksum`));
          }
        });
        await t.step("a frame is missing, twice there, or behind the end", async () => {
          const parts = frames.map(({ bytes }) => bytes);
          await refuse(joined(parts.toSpliced(2, 1)), /manifest says/);
          await refuse(joined(parts.toSpliced(2, 0, parts[2]!)), /manifest says/);
          await refuse(joined([...parts, parts[2]!]), /follows its end/);
        });
        await t.step("a length that no frame has", async () => {
          const { at } = frames[1]!;
          const other = whole.slice();
          new DataView(other.buffer).setUint32(at + 1, FRAME_BYTES_MAX + 1);
          await refuse(other, new RegExp(`byte ${at}\\b.*No frame begins`));
          new DataView(other.buffer).setUint32(at + 1, FRAME_BYTES_MAX);
          await refuse(other, /cut short/);
        });
        await t.step("other files", async () => {
          await refuse(new TextEncoder().encode('{"eventId":"1"}\n'), /no archive.*import/);
          await refuse(new Uint8Array(), /no archive/);
          const newer = whole.slice();
          newer[10] = 200;
          await refuse(newer, /format 200.*newer/);
        });
        await t.step("nothing was stored", async () => {
          await withApp(target, () => Promise.resolve());
          await withDatabase(target, async (sql) => {
            const projects = await sql.query<{ id: string }>(
              "SELECT public_id AS id FROM projects",
            );
            assert.deepEqual(projects.map(({ id }) => id), ["prj_default"]);
          });
        });
      });
    })
  );
});

Deno.test("POST /v1/restorations/frames: events that the pipeline could not have made are refused", async () => {
  await withEmbedded((env) =>
    withApp(env, async (app) => {
      const headers = { Authorization: `Bearer ${app.app.controlToken}` };
      const begun = await app.admin("POST", "/v1/restorations", {
        archive: "made_up",
        schema: 1,
        projects: [{ id: "prj_default", as: "prj_default" }],
      });
      assert.equal(begun.status, 200, JSON.stringify(begun.body));
      const send = (row: Parameters<typeof newRow>[0]) =>
        app.fetch("/v1/restorations/frames?archive=made_up&kind=events&project=prj_default", {
          method: "POST",
          headers,
          body: encodeBlock([newRow(row)]),
        });
      assert.deepEqual((await send({})).body, { stored: 1, known: 0 });
      for (
        const wrong of [
          { occurred_at: "yesterday" },
          { visitor_hash: "\\x00" },
          { viewport_width: 1.5 },
          { viewport_width: 2 ** 31 },
          { name: "a\0b" },
          { properties: "{" },
          { clock: "client" },
        ]
      ) {
        const { status, body } = await send(wrong);
        assert.deepEqual([status, body.code], [400, "invalid_body"], JSON.stringify(wrong));
      }
      const shortened = encodeBlock([newRow()]).subarray(0, 40);
      const refused = await app.fetch(
        "/v1/restorations/frames?archive=made_up&kind=events&project=prj_default",
        { method: "POST", headers, body: shortened },
      );
      assert.equal(refused.status, 400);
      const strange = await app.fetch(
        "/v1/restorations/frames?archive=another&kind=events&project=prj_default",
        { method: "POST", headers, body: encodeBlock([newRow()]) },
      );
      assert.equal(strange.status, 404);
    })
  );
});

Deno.test("archive: an event frame without a block is no frame of events", async () => {
  const { eventsOf } = await import("../../src/archive/archive_format.ts");
  const content = encodeEvents("prj_one", encodeBlock([newRow()])).subarray(9);
  assert.equal(eventsOf({ content, at: 0 }).events, 1);
  assert.throws(() => eventsOf({ content: content.slice(0, 12), at: 77 }), /byte 77/);
});

Deno.test({
  name: "archive: a disk that fills leaves the file that was there, and no part of the new one",
  ignore: !canMount && Deno.env.get("CI") !== "true",
  fn: () =>
    withEmbedded(async (env) => {
      await using disk = await mountSmallDisk(1);
      const file = `${disk.folder}/all.footfall`;
      await makeArchive(env, file);
      const before = await Deno.readFile(file);
      await disk.fill();
      const { code, result } = await cli(env, "archive", file);
      assert.equal(code, 1);
      assert.match(result.error.detail, /all\.footfall cannot be written: the disk is full\./);
      assert.deepEqual(await Deno.readFile(file), before);
      const left = [...Deno.readDirSync(disk.folder)].map(({ name }) => name).sort();
      assert.deepEqual(left, ["all.footfall", "filler"]);
      await disk.free();
      await done(env, "archive", file);
      const nowhere = await cli(env, "archive", `${disk.folder}/none/all.footfall`);
      assert.equal(nowhere.code, 1);
      assert.match(nowhere.result.error.detail, /cannot be written: its folder is not there\./);
    }),
});
