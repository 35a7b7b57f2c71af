import assert from "node:assert/strict";
import {
  beginsWith,
  type DatedNote,
  notesOfChange,
} from "../../../src/reports/insights/insight_notes.ts";
import { notedSentence } from "../../../src/reports/insights/insight_sentences.ts";

function noteOf(day: number, text = `Day ${day}`): DatedNote {
  const date = `2026-03-${String(10 + day).padStart(2, "0")}`;
  return { day, date, note: { id: `note_${day}`, at: date, text, by: "somebody" } };
}

Deno.test("notes: a change begins with one on its first day or the day before, up or down", () => {
  const fromThursday = [1, -2, 0, 40, 35, 30, 42];
  const begins = (excess: readonly number[]) =>
    [-1, 0, 1, 2, 3, 4, 5, 6].filter((day) => beginsWith(day, excess));
  assert.deepEqual(begins(fromThursday), [2, 3, 4], "later too little is left, earlier too little");
  assert.deepEqual(begins(fromThursday.map((one) => -one)), [2, 3, 4]);
  assert.deepEqual(begins([30, 31, 29, 30, 30, 30, 30]), [-1, 0, 1, 2], "from the first day on");
  assert.deepEqual(begins([50]), [-1, 0], "a range of one day");
  assert.deepEqual(begins([0, 0, 0, 0, 0, 0, 90]), [5, 6]);
  assert.deepEqual(begins([]), [], "a longer range");
  assert.deepEqual(begins([5, -5]), [], "nothing in sum");
});

Deno.test("notes of a change: the latest first, at most three, and the sentence has one", () => {
  const notes = [-1, 0, 0, 1, 1, 6].map((day) => noteOf(day));
  const found = notesOfChange(notes, [30, 30, 30, 30, 30, 30, 30]);
  assert.deepEqual(found.map(({ day }) => day), [1, 1, 0]);
  assert.equal(notedSentence(found), " It begins with a note of 2026-03-11: “Day 1”.");
  assert.equal(notedSentence([]), "");
  assert.ok(notedSentence([noteOf(0, "“Post” is out")]).endsWith(": “‘Post’ is out”."), "quotes");
  assert.ok(notedSentence([noteOf(0, "x".repeat(120))]).includes(`${"x".repeat(120)}”`));
  assert.ok(notedSentence([noteOf(0, "x".repeat(121))]).includes(`${"x".repeat(120)}…”`));
});
