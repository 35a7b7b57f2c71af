import assert from "node:assert/strict";
import { BODY_WIRE_BYTES_MAX } from "../../src/limits.ts";
import type { Connection } from "../../src/cli/connection.ts";
import {
  type ImportLine,
  importLines,
  type ImportSum,
  type RefusedLine,
} from "../../src/cli/import_lines.ts";

const DECODER = new TextDecoder();

function linesOf(count: number, from = 0): ImportLine[] {
  return Array.from({ length: count }, (_, i) => ({
    number: from + i + 1,
    end: 10 * (from + i + 1),
    bytes: new TextEncoder().encode(JSON.stringify({ eventId: `${from + i + 1}` })),
  }));
}

/** A server that answers with `answer`, requests in any order; it records the ids that it is sent. */
function scripted(
  answer: (ids: readonly string[], request: number) => Promise<Response> | Response,
) {
  const sent: string[][] = [];
  let atOnce = 0;
  const most = { atOnce: 0 };
  const connection = {
    fetch: async (_path: string, init: RequestInit) => {
      const lines = DECODER.decode(init.body as Uint8Array).trimEnd().split("\n");
      const ids = lines.map((line) => line === "{" ? line : JSON.parse(line).eventId);
      sent.push(ids);
      most.atOnce = Math.max(most.atOnce, ++atOnce);
      try {
        return await answer(ids, sent.length - 1);
      } finally {
        atOnce--;
      }
    },
  } as unknown as Connection;
  return { connection, sent, most };
}

const stored = (ids: readonly string[]) =>
  Response.json({ accepted: ids.length, duplicates: 0, rejected: [] });

function watched() {
  const refused: RefusedLine[] = [];
  const sums: ImportSum[] = [];
  const hooks = {
    refused: (line: RefusedLine) => void refused.push(line),
    settled: (sum: ImportSum) => void sums.push(sum),
  };
  return { refused, sums, hooks };
}

const IDLE = new AbortController().signal;
const target = (connection: Connection, signal = IDLE) => ({
  ...{ connection, project: "prj_x", name: "test", signal },
});

Deno.test("importLines: all lines once, and what became of them in their order", async () => {
  // Later requests are answered first.
  const { connection, sent, most } = scripted(async (ids, request) => {
    for (let ticks = 20 - request % 8; ticks > 0; ticks--) await Promise.resolve();
    return stored(ids);
  });
  const { refused, sums, hooks } = watched();
  const chunks = [linesOf(7), linesOf(5_000, 7), [], linesOf(1, 5_007)];
  const sum = await importLines(target(connection), chunks, hooks);
  assert.equal(sum.accepted, 5_008);
  assert.deepEqual(sent.flat().map(Number), Array.from({ length: 5_008 }, (_, i) => i + 1));
  assert.deepEqual(
    sums.map(({ end }) => end),
    sums.map(({ end }) => end).toSorted((a, b) => a - b),
  );
  assert.deepEqual(sums.at(-1), sum);
  assert.deepEqual([sum.number, sum.end, refused.length], [5_008, 50_080, 0]);
  assert.ok(most.atOnce > 1 && most.atOnce <= 8, `${most.atOnce} at once`);
});

Deno.test("importLines: refused lines are reported, whether the reader or the server refuses them", async () => {
  const { connection, sent } = scripted((ids) => {
    const rejected = ids.flatMap((id, index) =>
      id === "{" ? [{ index, code: "invalid_json", message: "No." }] : []
    );
    return Response.json({ accepted: ids.length - rejected.length, duplicates: 1, rejected });
  });
  const bad = new TextEncoder().encode("{");
  const lines: ImportLine[] = linesOf(6).map((line) =>
    line.number === 2
      ? { ...line, refused: { code: "row_too_long", message: "Long." } }
      : line.number === 4
      ? { ...line, bytes: bad }
      : line
  );
  lines[5] = { ...lines[5]!, bytes: bad, isUnended: true };
  const { refused, hooks } = watched();
  const sum = await importLines(target(connection), [lines], hooks);
  assert.deepEqual(sent, [["1", "3", "{", "5", "{"]]);
  assert.deepEqual(refused.map(({ line, code, message }) => [line.number, code, message]), [
    [2, "row_too_long", "Long."],
    [4, "invalid_json", "No."],
    [6, "invalid_json", "No. The file ends in it: it seems to be cut off."],
  ]);
  const { accepted, duplicates, rejected, stored: last } = sum;
  assert.deepEqual({ accepted, duplicates, rejected, last: last?.number }, {
    ...{ accepted: 3, duplicates: 1, rejected: 3, last: 5 },
  });
});

Deno.test("importLines: a failure ends it; outcomes before it are reported, those after it are not", async () => {
  const { connection, sent } = scripted((ids, request) =>
    request === 3
      ? Response.json({ code: "not_found", detail: "There is no project." }, { status: 404 })
      : stored(ids)
  );
  const { sums, hooks } = watched();
  const work = importLines(target(connection), [linesOf(100_000)], hooks);
  await assert.rejects(work, { name: "RequestRefused", code: "not_found" });
  assert.equal(sums.at(-1)?.number, 3 * sent[0]!.length);
  assert.ok(sent.length < 20, "it stopped soon");
});

Deno.test("importLines: it continues an earlier run, and stops when asked", async () => {
  const stop = new AbortController();
  const { connection, sent } = scripted((ids, request) => {
    if (request === 2) stop.abort();
    return stored(ids);
  });
  const before = {
    ...{ lines: 10, accepted: 8, duplicates: 1, rejected: 2, number: 12, end: 120, stored: null },
  };
  const { sums, hooks } = watched();
  const work = importLines(
    { ...target(connection, stop.signal), before },
    [linesOf(100_000, 12)],
    hooks,
  );
  await assert.rejects(work, { name: "AbortError" });
  const sum = sums.at(-1)!;
  assert.equal(sum.number, 12 + sent.flat().length, "all that was sent is told");
  assert.equal(sum.accepted, 8 + sent.flat().length);
});

Deno.test("importLines: if reporting an outcome fails, no later one is reported", async () => {
  const { connection } = scripted(stored);
  const sums: number[] = [];
  const settled = (sum: ImportSum) => {
    if (sums.length === 2) throw new Error("The disk is full");
    sums.push(sum.number);
  };
  const work = importLines(target(connection), [linesOf(20_000)], { refused: () => {}, settled });
  await assert.rejects(work, /The disk is full/);
  assert.equal(sums.length, 2);
});

Deno.test("importLines: refused lines are held by their bytes too, and one may be more than a body", async () => {
  const { connection } = scripted(stored);
  const lineBytes = 300_000;
  const refused = { code: "row_too_long", message: "Long." };
  let [taken, told, most] = [0, 0, 0];
  function* chunks() {
    for (let number = 1; number <= 200; number++) {
      taken++;
      most = Math.max(most, taken - told);
      const bytes = new Uint8Array(number === 100 ? 2 * BODY_WIRE_BYTES_MAX : lineBytes);
      yield [{ number, end: number, bytes, refused }];
    }
  }
  const settled = ({ lines }: ImportSum) => void (told = lines);
  const sum = await importLines(target(connection), chunks(), { refused: () => {}, settled });
  assert.deepEqual([sum.lines, sum.rejected], [200, 200]);
  // Eight requests at once, one that is being filled, and the line that begins the next one.
  const perRequest = Math.floor(BODY_WIRE_BYTES_MAX / lineBytes);
  assert.ok(most <= 9 * perRequest + 1, `${most} lines`);
});
