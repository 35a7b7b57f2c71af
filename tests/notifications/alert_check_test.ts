/** What an alert makes of a figure while events wait to be counted. */
import assert from "node:assert/strict";
import type { Project } from "../../src/auth/projects.ts";
import { INSIGHT_CAUSES_MAX } from "../../src/limits.ts";
import { checkAlert } from "../../src/notifications/alert_check.ts";
import type { AlertCause } from "../../src/notifications/alert_definition.ts";
import type { AlertQuestion } from "../../src/notifications/alert_question.ts";
import type { NotificationReads } from "../../src/notifications/notification_reads.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const QUESTION: AlertQuestion = { metric: "visitors", filters: [], segment: null };
const PROJECT = { id: "prj_a", projectId: 1, timezone: "UTC" } as unknown as Project;

/** What a look at `value` comes to, where each span before had a hundred. */
async function looked(on: AlertCause, value: number, isBehind: boolean) {
  const reads = {
    isBehind: () => Promise.resolve(isBehind),
    read: (_: unknown, __: string, { from, to }: Record<string, string>) => {
      const isLast = Date.parse(to!) > NOW - HOUR_MS && Date.parse(from!) > NOW - 2 * DAY_MS;
      const visitors = isLast ? value : 100;
      const query = { from, to, timezone: "UTC", semantics: "x" };
      return Promise.resolve({ totals: { visitors, events: visitors }, query, pending: 1 });
    },
  } as unknown as NotificationReads;
  const { noticed, isKnown } = await checkAlert({ reads, project: PROJECT, nowMs: NOW }, on);
  return [noticed.length > 0, isKnown];
}

const TOLD = [true, true];
const WELL = [false, true];
const UNKNOWN = [false, false];

Deno.test("alerts: while events are pending, a rise is known, but not a fall", async () => {
  const threshold = { kind: "threshold", question: QUESTION, over: "24h" } as const;
  const unusual = { kind: "unusual", question: QUESTION } as const;
  const silence = { kind: "silence", minutes: 60, match: null } as const;
  const cases: [AlertCause, number, boolean[], boolean[]][] = [
    [{ ...threshold, below: 5 }, 4, TOLD, UNKNOWN],
    [{ ...threshold, below: 5 }, 5, WELL, WELL],
    [{ ...threshold, above: 5 }, 6, TOLD, TOLD],
    [{ ...threshold, above: 5 }, 5, WELL, UNKNOWN],
    [{ ...unusual, direction: "any" }, 0, TOLD, UNKNOWN],
    [{ ...unusual, direction: "any" }, 100, WELL, UNKNOWN],
    [{ ...unusual, direction: "any" }, 300, TOLD, TOLD],
    [silence, 0, TOLD, UNKNOWN],
    [silence, 1, WELL, WELL],
  ];
  for (const [on, value, counted, waiting] of cases) {
    const of = JSON.stringify([on, value]);
    assert.deepEqual(await looked(on, value, false), counted, of);
    assert.deepEqual(await looked(on, value, true), waiting, of);
  }
});

Deno.test("alerts: all findings are checked", async () => {
  const found = Array.from({ length: INSIGHT_CAUSES_MAX }, (_, i) => ({
    metric: "visitors",
    dimension: "path",
    value: `/${i}`,
    score: 100 - i,
    text: `Visits by the entry page “/${i}” rose.`,
  }));
  const reads = {
    read: (_: unknown, __: string, { from, to, limit }: Record<string, string>) => {
      const query = { from, to, timezone: "UTC", semantics: "x" };
      return Promise.resolve({ findings: found.slice(0, Number(limit)), query, pending: 0 });
    },
  } as unknown as NotificationReads;
  const cause: AlertCause = { kind: "finding", score: 0, filters: [], segment: null };
  const { noticed, state } = await checkAlert({ reads, project: PROJECT, nowMs: NOW }, cause);
  assert.equal(noticed.length, found.length);
  assert.equal(noticed[1]!.lead, "Visits by the entry page “/1” rose.");
  assert.match(state, /“\/0”/);
});
