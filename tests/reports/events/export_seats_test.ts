import assert from "node:assert/strict";
import { EXPORTS_MAX, EXPORTS_PER_PROJECT_MAX } from "../../../src/limits.ts";
import { Problem } from "../../../src/problem.ts";
import { ExportSeats } from "../../../src/reports/events/export_seats.ts";

const never = new AbortController().signal;

async function* lines(): AsyncGenerator<string, void> {
  yield await Promise.resolve("one");
  yield "two";
}

/** An export whose first line was taken. */
async function begun(seats: ExportSeats, projectId: number, gone = never) {
  const exported = seats.seated(projectId, lines(), gone);
  assert.deepEqual(await exported.next(), { done: false, value: "one" });
  return exported;
}

const isRefused = (detail: RegExp) => (error: unknown) =>
  error instanceof Problem && error.code === "overloaded" && detail.test(error.message);

Deno.test("exports: limited per project and in total, and each that ends frees a seat", async () => {
  const seats = new ExportSeats();
  const own = [];
  for (let i = 0; i < EXPORTS_PER_PROJECT_MAX; i++) own.push(await begun(seats, 1));
  await assert.rejects(begun(seats, 1), isRefused(/of this project are under way\. Try again/));
  for (let i = EXPORTS_PER_PROJECT_MAX; i < EXPORTS_MAX; i++) await begun(seats, 100 + i);
  await assert.rejects(begun(seats, 2), isRefused(/^\d+ exports are under way/));
  assert.equal(seats.taken, EXPORTS_MAX);
  assert.deepEqual(await Array.fromAsync(own[0]!), ["two"]);
  await begun(seats, 2);
  await own[1]!.return();
  await begun(seats, 1);
  assert.equal(seats.taken, EXPORTS_MAX);
});

Deno.test("exports: a reader who goes away gives the seat back, once", async () => {
  const seats = new ExportSeats();
  const gone = new AbortController();
  const exported = await begun(seats, 1, gone.signal);
  gone.abort();
  assert.equal(seats.taken, 0);
  await exported.return();
  assert.equal(seats.taken, 0);
});
