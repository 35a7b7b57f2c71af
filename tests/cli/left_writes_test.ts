import assert from "node:assert/strict";
import { writeLeft } from "../../src/cli/left_writes.ts";
import type { Facts, Log } from "../../src/http/log.ts";
import { Problem } from "../../src/problem.ts";
import type { Left } from "../../src/server/prepare_database.ts";

function heardLog() {
  const errors: Facts[] = [];
  const silent = () => {};
  const error: Log["error"] = (_, facts = {}) => void errors.push(facts);
  return { errors, log: { debug: silent, info: silent, warn: silent, error } };
}

const leftOf = (write: Left["write"]): Left => ({
  what: "the project",
  reason: "read-only",
  write,
});

Deno.test("writeLeft: nothing is written once the server stops", async () => {
  const { errors, log } = heardLog();
  const stopping = new AbortController();
  const failing = () => assert.fail("It has stopped");
  const writing = writeLeft(leftOf(failing), log, stopping.signal, failing);
  stopping.abort();
  await writing;
  assert.deepEqual(errors, []);
});

Deno.test("writeLeft: a mistake is logged as one, and ends it", async () => {
  const { errors, log } = heardLog();
  const { signal } = new AbortController();
  const left = leftOf(() => Promise.reject(new Problem("conflict", "It is there.")));
  await writeLeft(left, log, signal, () => assert.fail("Nothing was stored"));
  assert.deepEqual(errors, [{ left: "the project", reason: "It is there." }]);
});
