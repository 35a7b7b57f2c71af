import assert from "node:assert/strict";
import { lineReply } from "../../../src/reports/events/line_stream.ts";
import { readFailure } from "../../../src/reports/answer/time_limit.ts";
import { EventLines } from "../../../src/event_file/event_lines.ts";
import { SegmentUnreadable } from "../../../src/store/segment_head.ts";

const LINE = `${JSON.stringify({ eventId: "e" })}\n`;
const DAMAGE = "Segment 41 is damaged: block 3 of its ids has a wrong checksum";

async function* lines(count: number, error?: unknown): AsyncGenerator<string, void> {
  for (let i = 0; i < count; i++) yield LINE;
  if (error !== undefined) throw error;
}

/** Returns what a client receives of a reply over a real connection, chunk by chunk. */
async function received(reply: () => Promise<Response>) {
  const quiet = {
    hostname: "127.0.0.1",
    port: 0,
    onListen: () => {},
    onError: () => new Response(),
  };
  await using server = Deno.serve(quiet, reply);
  const chunks: Uint8Array[] = [];
  let isWhole = true;
  try {
    const { body } = await fetch(`http://127.0.0.1:${server.addr.port}`);
    for await (const chunk of body!) chunks.push(chunk);
  } catch {
    isWhole = false;
  }
  const text = new TextDecoder().decode(await new Blob(chunks as BlobPart[]).bytes());
  return { text, isWhole, chunks };
}

Deno.test("lines: all of them, or none", async () => {
  for (const count of [0, 1, 2, 300]) {
    const got = await received(() => lineReply(lines(count), "r", readFailure));
    assert.deepEqual([got.text, got.isWhole], [LINE.repeat(count), true]);
  }
});

Deno.test("lines: a reader who goes away ends them", async () => {
  const ended = Promise.withResolvers<void>();
  async function* endless(): AsyncGenerator<string, void> {
    try {
      for (;;) yield LINE.repeat(10_000);
    } finally {
      ended.resolve();
    }
  }
  const quiet = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  await using server = Deno.serve(quiet, () => lineReply(endless(), "r", readFailure));
  const { body } = await fetch(`http://127.0.0.1:${server.addr.port}`);
  const reader = body!.getReader();
  await reader.read();
  await reader.cancel();
  await ended.promise;
});

Deno.test("lines: a failure before the first is thrown, so that the reply has its status", async () => {
  await assert.rejects(lineReply(lines(0, new SegmentUnreadable(DAMAGE)), "r", readFailure), {
    code: "damaged_events",
  });
  await assert.rejects(lineReply(lines(0, new Error("other")), "r", readFailure), {
    message: "other",
  });
});

Deno.test("lines: a damaged block is the last line, after which the connection is cut", async () => {
  for (const count of [1, 300]) {
    const failing = () =>
      lineReply(lines(count, new SegmentUnreadable(DAMAGE)), "r-1", readFailure);
    const { text, isWhole, chunks } = await received(failing);
    assert.ok(!isWhole, "nobody takes it for whole");
    assert.ok(text.startsWith(LINE.repeat(count)));
    const { code, status, detail, requestId } = JSON.parse(text.slice(LINE.length * count));
    assert.deepEqual([code, status, requestId], ["damaged_events", 500, "r-1"]);
    assert.ok(detail.startsWith(DAMAGE), detail);
    const events = new EventLines();
    const taken = chunks.flatMap((chunk) => events.take(chunk));
    assert.equal(taken.length, count, "and is no event");
  }
});

Deno.test("lines: another failure among them cuts the connection", async () => {
  const { text, isWhole } = await received(() =>
    lineReply(lines(2, new Error("x")), "r", readFailure)
  );
  assert.deepEqual([LINE.repeat(2).startsWith(text), isWhole], [true, false]);
});
