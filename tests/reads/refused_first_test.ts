import assert from "node:assert/strict";
import type { Project } from "../../src/auth/projects.ts";
import { type Database, DatabaseUnavailable } from "../../src/db/sql.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import type { ProblemCode } from "../../src/problem.ts";
import { Problem } from "../../src/problem.ts";
import { getEvents } from "../../src/reports/events/events_endpoint.ts";
import { ExportSeats } from "../../src/reports/events/export_seats.ts";
import { getReport, type ReportServices } from "../../src/reports/answer/report_endpoint.ts";
import { badValuesOf } from "./bad_parameters.ts";
import { type Endpoint, ENDPOINTS, SAVED } from "./endpoints.ts";
import { IN_PLACE } from "../support/in_place.ts";

const PROJECT = { projectId: 1, id: "prj_one", timezone: "UTC", siteUrl: null } as Project;

/** The database is away and nothing can be projected: what was sent to either is counted. */
function servicesAway(): { readonly services: ReportServices; readonly sent: () => number } {
  let sent = 0;
  const refuse = () => {
    sent++;
    return Promise.reject(new DatabaseUnavailable("away"));
  };
  const reads: Database = {
    engine: "postgres",
    ping: refuse,
    query: refuse,
    binary: refuse,
    script: refuse,
    transaction: refuse,
    close: refuse,
  };
  return {
    services: {
      reads,
      projection: { catchUp: refuse, catchUpWithin: refuse },
      segments: new SegmentCache(0),
      pool: IN_PLACE,
      readTimeoutMs: 10_000,
      now: () => Date.parse("2026-06-01T00:00:00Z"),
    },
    sent: () => sent,
  };
}

async function ask(
  services: ReportServices,
  { report, path, required }: Endpoint,
  parameters: Readonly<Record<string, string>>,
): Promise<Response> {
  const url = new URL(`http://x${path}?${new URLSearchParams({ ...required, ...parameters })}`);
  const asked = { request: new Request(url), url, params: { slug: SAVED, id: "a" } };
  if (report !== undefined) {
    return await getReport(services, report, { ...asked, project: PROJECT });
  }
  const exchange = { ...asked, requestId: "r", peer: null, who: null };
  return await getEvents({ ...services, project: PROJECT, exports: new ExportSeats() }, exchange);
}

const isProblem = (code: ProblemCode) => (error: unknown) => {
  assert.ok(error instanceof Problem, String(error));
  assert.equal(error.code, code, error.detail);
  return true;
};

for (const one of ENDPOINTS) {
  Deno.test(`${one.documented}: what is wrong is refused before the projection and any statement`, async () => {
    const { services, sent } = servicesAway();
    for (const parameter of one.parameters.filter((name) => name !== "project")) {
      for (const value of badValuesOf(one.documented, parameter).filter(Boolean)) {
        const asking = ask(services, one, { [parameter]: value });
        await assert.rejects(asking, isProblem("invalid_parameter"), `${parameter}=${value}`);
      }
    }
    assert.equal(sent(), 0);
    await assert.rejects(ask(services, one, {}), DatabaseUnavailable);
    assert.equal(sent(), 1);
  });
}

Deno.test("reads in buckets: too many are refused before the projection and any statement", async () => {
  const { services, sent } = servicesAway();
  const long = { from: "2020-01-01", to: "2026-01-01" };
  const tooMany: readonly [string, Record<string, string>][] = [
    ["/v1/kpis", { ...long, interval: "day" }],
    ["/v1/kpis", {
      from: "2026-05-01",
      to: "2026-05-02",
      interval: "hour",
      compare: JSON.stringify(long),
    }],
    ["/v1/goals", { ...long, interval: "day" }],
    ["/v1/retention", { ...long, interval: "day" }],
    ["/v1/trends", { from: "2022-01-01", to: "2026-01-01", by: "path", event: '["a","b","c"]' }],
  ];
  for (const [path, parameters] of tooMany) {
    const one = ENDPOINTS.find(({ documented }) => documented === path)!;
    await assert.rejects(ask(services, one, parameters), isProblem("range_too_large"), path);
  }
  assert.equal(sent(), 0);
});
