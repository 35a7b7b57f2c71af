import assert from "node:assert/strict";
import { momentOf, shopDays } from "../../src/demo/visitors/calendar.ts";
import { Random } from "../../src/demo/visitors/random.ts";

const BERLIN = "Europe/Berlin";

Deno.test("shopDays: the last day is the local one that contains the instant", () => {
  const days = shopDays(Date.UTC(2026, 10, 20, 23, 30), 2, BERLIN);
  assert.deepEqual(days.map(({ date }) => date), ["2026-11-20", "2026-11-21"]);
  assert.equal(days[1]?.startMs, Date.UTC(2026, 10, 20, 23));
  assert.equal(days[1]?.weekday, 6);
});

Deno.test("shopDays: midnights follow the clock change of autumn and of spring", () => {
  const autumn = shopDays(Date.UTC(2026, 9, 26, 12), 3, BERLIN);
  assert.deepEqual(autumn.map(({ startMs }) => new Date(startMs).toISOString()), [
    "2026-10-23T22:00:00.000Z",
    "2026-10-24T22:00:00.000Z",
    "2026-10-25T23:00:00.000Z",
  ]);
  const spring = shopDays(Date.UTC(2026, 2, 30, 12), 2, BERLIN);
  assert.deepEqual(spring.map(({ startMs }) => new Date(startMs).toISOString()), [
    "2026-03-28T23:00:00.000Z",
    "2026-03-29T22:00:00.000Z",
  ]);
});

Deno.test("momentOf: evenings are busier than nights", () => {
  const [day] = shopDays(Date.UTC(2026, 10, 21), 1, BERLIN);
  assert.ok(day);
  const random = new Random("hours");
  const hours = Array.from(
    { length: 2000 },
    () => Math.floor((momentOf(day, random) - day.startMs) / 3_600_000),
  );
  const within = (from: number, to: number) =>
    hours.filter((hour) => hour >= from && hour < to).length;
  assert.ok(within(18, 22) > 8 * within(1, 5));
  assert.equal(within(0, 24), hours.length);
});
