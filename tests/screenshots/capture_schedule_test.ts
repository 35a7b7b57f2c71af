import assert from "node:assert/strict";
import { createCaptureSchedule } from "../../src/screenshots/queue/capture_schedule.ts";

const at = (text: string) => Date.parse(text);
const told = (ms: number | null) => ms === null ? null : new Date(ms).toISOString();

/** A Saturday. */
const SATURDAY = at("2026-11-21T17:30:30Z");

Deno.test("capture schedule: the next time, in UTC, days of the week as cron counts them", () => {
  const cases: [string, string | null][] = [
    ["0 3 * * *", "2026-11-22T03:00:00.000Z"],
    ["*/15 * * * *", "2026-11-21T17:45:00.000Z"],
    // Deno.cron has 0 for a mistake, and 1 for Sunday.
    ["0 3 * * 0", "2026-11-22T03:00:00.000Z"],
    ["0 3 * * 7", "2026-11-22T03:00:00.000Z"],
    ["0 3 * * 1", "2026-11-23T03:00:00.000Z"],
    ["0 3 * * 1-5", "2026-11-23T03:00:00.000Z"],
    ["0 3 * * 6", "2026-11-28T03:00:00.000Z"],
    ["0 3 * * SAT", "2026-11-28T03:00:00.000Z"],
    ["0 3 1 1 *", "2027-01-01T03:00:00.000Z"],
    ["0 3 30 2 *", null],
  ];
  for (const [schedule, expected] of cases) {
    assert.equal(told(createCaptureSchedule(schedule).nextMs(SATURDAY)), expected, schedule);
  }
});

Deno.test("capture schedule: a time is due once, and made up for within an hour", () => {
  const { dueMs } = createCaptureSchedule("0 3 * * *");
  const three = "2026-11-22T03:00:00.000Z";
  const due = (after: string, until: string) => told(dueMs(at(after), at(until)));
  assert.equal(due("2026-11-22T02:59:00Z", "2026-11-22T02:59:59.999Z"), null);
  assert.equal(due("2026-11-22T02:59:00Z", three), three);
  assert.equal(due("2026-11-22T02:59:59.999Z", "2026-11-22T03:00:00.020Z"), three);
  assert.equal(due(three, "2026-11-22T03:01:00Z"), null);
  assert.equal(due("2026-11-21T23:00:00Z", "2026-11-22T03:59:59Z"), three);
  assert.equal(due("2026-11-21T23:00:00Z", "2026-11-22T04:00:00Z"), null);
  const often = createCaptureSchedule("* * * * *");
  const last = often.dueMs(at("2026-11-22T03:00:30Z"), at("2026-11-22T03:10:30Z"));
  assert.equal(told(last), "2026-11-22T03:10:00.000Z", "what was missed is one run");
});

Deno.test("capture schedule: the error of an invalid one names the setting", () => {
  for (const schedule of ["99 3 * * *", "0 3 * *", "0 0 3 * * *", "0 3 * * MOO"]) {
    assert.throws(() => createCaptureSchedule(schedule), /^Error: CAPTURE_SCHEDULE: /, schedule);
  }
});
