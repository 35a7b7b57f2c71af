import assert from "node:assert/strict";
import { digestDays, lastSlot, nextSlot } from "../../src/notifications/slots.ts";

const ms = (text: string) => Date.parse(text);
const iso = (atMs: number) => new Date(atMs).toISOString();
const DAILY = { every: "daily", at: "08:00" } as const;
const WEEKLY = { every: "weekly", at: "08:00" } as const;
const MONTHLY = { every: "monthly", at: "08:00" } as const;

/** The moments at which a digest is due, one after the other. */
function following(
  times: Parameters<typeof nextSlot>[0],
  timezone: string,
  after: string,
  count: number,
): string[] {
  const found: string[] = [];
  let at = ms(after);
  while (found.length < count) found.push(iso(at = nextSlot(times, timezone, at).atMs));
  return found;
}

Deno.test("slots: eight in the morning, also on days with a clock change", () => {
  const spring = following(DAILY, "Europe/Berlin", "2026-03-27T12:00:00Z", 3);
  assert.deepEqual(spring, [
    "2026-03-28T07:00:00.000Z",
    "2026-03-29T06:00:00.000Z",
    "2026-03-30T06:00:00.000Z",
  ]);
  const autumn = following(DAILY, "Europe/Berlin", "2026-10-23T12:00:00Z", 3);
  assert.deepEqual(autumn, [
    "2026-10-24T06:00:00.000Z",
    "2026-10-25T07:00:00.000Z",
    "2026-10-26T07:00:00.000Z",
  ]);
});

Deno.test("slots: a skipped time is an hour later, of one that occurs twice the first is taken", () => {
  const night = { every: "daily", at: "02:30" } as const;
  assert.deepEqual(following(night, "Europe/Berlin", "2026-03-28T12:00:00Z", 2), [
    "2026-03-29T01:30:00.000Z",
    "2026-03-30T00:30:00.000Z",
  ]);
  assert.deepEqual(following(night, "Europe/Berlin", "2026-10-24T12:00:00Z", 2), [
    "2026-10-25T00:30:00.000Z",
    "2026-10-26T01:30:00.000Z",
  ]);
});

Deno.test("slots: weeks on Mondays, months on the first, by the local date", () => {
  assert.deepEqual(following(WEEKLY, "America/New_York", "2026-11-23T13:00:00Z", 2), [
    "2026-11-30T13:00:00.000Z",
    "2026-12-07T13:00:00.000Z",
  ]);
  assert.deepEqual(following(MONTHLY, "Pacific/Auckland", "2026-01-31T00:00:00Z", 3), [
    "2026-01-31T19:00:00.000Z",
    "2026-02-28T19:00:00.000Z",
    "2026-03-31T19:00:00.000Z",
  ]);
});

Deno.test("slots: the last one may be now", () => {
  const of = (now: string) => iso(lastSlot(DAILY, "Europe/Berlin", ms(now)).atMs);
  assert.equal(of("2026-11-23T06:59:59.999Z"), "2026-11-22T07:00:00.000Z");
  assert.equal(of("2026-11-23T07:00:00Z"), "2026-11-23T07:00:00.000Z");
  assert.equal(
    iso(lastSlot(WEEKLY, "UTC", ms("2026-11-23T07:59:00Z")).atMs),
    "2026-11-16T08:00:00.000Z",
  );
});

Deno.test("slots: a date that a zone has skipped still has a slot", () => {
  // Samoa had no 30 December 2011.
  const found = following(DAILY, "Pacific/Apia", "2011-12-28T00:00:00Z", 4);
  assert.equal(new Set(found).size, found.length);
  assert.deepEqual(found.toSorted(), found);
});

Deno.test("slots: the day, week or month that ends before the date", () => {
  const days = (times: typeof DAILY | typeof WEEKLY | typeof MONTHLY, now: string) => {
    const { from, to } = digestDays(times, lastSlot(times, "UTC", ms(now)), "UTC");
    return [from.toString(), to.toString()];
  };
  assert.deepEqual(days(DAILY, "2026-03-01T09:00:00Z"), ["2026-02-28", "2026-02-28"]);
  assert.deepEqual(days(WEEKLY, "2026-11-25T09:00:00Z"), ["2026-11-16", "2026-11-22"]);
  assert.deepEqual(days(MONTHLY, "2028-03-10T09:00:00Z"), ["2028-02-01", "2028-02-29"]);
});

Deno.test("slots: the day before a date is the last one that existed in the zone", () => {
  const told = (now: string) => {
    const slot = lastSlot(DAILY, "Pacific/Apia", ms(now));
    const { from, to } = digestDays(DAILY, slot, "Pacific/Apia");
    return [from.toString(), to.toString()];
  };
  // 08:00 of the 31st at UTC+14, the day after the 29th.
  assert.deepEqual(told("2011-12-30T18:00:00Z"), ["2011-12-29", "2011-12-29"]);
  assert.deepEqual(told("2011-12-31T18:00:00Z"), ["2011-12-31", "2011-12-31"]);
});
