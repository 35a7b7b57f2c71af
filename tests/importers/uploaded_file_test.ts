import assert from "node:assert/strict";
import type { Project } from "../../src/auth/projects.ts";
import { BodyBudget } from "../../src/http/body.ts";
import { ALLOWED_BODY_MS_MAX, noteAllowed } from "../../src/http/still_allowed.ts";
import type { ImportServices } from "../../src/ingest/import_endpoint.ts";
import type { Writer } from "../../src/ingest/writer.ts";
import { Problem } from "../../src/problem.ts";
import { importFile } from "../../src/server/file_import.ts";
import { fakeSql } from "../support/fake_sql.ts";
import { id } from "./umami_export.ts";

const PROJECT = { projectId: 1, id: "prj_one", name: "One", ipStorage: null } as unknown as Project;
const BUDGET_BYTES = 64 * 1024 * 1024;

/** What a server stores of uploaded files: the numbers of events of its writes. */
function world(afterWrite = () => {}) {
  const writes: number[] = [];
  const services: ImportServices = {
    database: fakeSql({ query: () => Promise.resolve([{ known: 0 }] as never) }),
    writer: {
      full: false,
      write(rows: readonly unknown[]) {
        writes.push(rows.length);
        afterWrite();
        return Promise.resolve({ duplicates: 0, refused: new Set<string>() });
      },
    } as unknown as Writer,
    enrichment: {
      readAgent: () => ({ browser: null, os: null, device: null, bot: null }),
      geo: { description: "nowhere", locate: () => null },
      hasher: { hash: () => "hash" },
    },
    budget: new BodyBudget(BUDGET_BYTES, 1),
    ipStorage: "full",
    now: Date.now,
    observe: () => {},
  };
  return { services, writes };
}

/** A clock that stands still unless it is set. */
class SetClock implements Disposable {
  readonly #real = performance.now;
  nowMs = 0;

  constructor() {
    performance.now = () => this.nowMs;
  }

  [Symbol.dispose](): void {
    performance.now = this.#real;
  }
}

const line = (n: number) =>
  JSON.stringify({
    uuid: id(n + 1),
    event: "$pageview",
    distinct_id: "ada",
    properties: { $current_url: `https://shop.example/${"p".repeat(200)}` },
    timestamp: "2026-05-01 10:00:00",
  });
/** A file of PostHog's; some 400 lines are read at once. */
const fileOf = (lines: readonly string[]) => `${lines.join("\n")}\n`;
const FILE = fileOf(Array.from({ length: 2_000 }, (_, n) => line(n)));

interface Sent {
  readonly body: BodyInit;
  readonly check?: () => void;
  readonly dryRun?: boolean;
}

/** Sends a file whose sender was allowed long ago. @returns the reply, and how often it was recorded */
async function send(services: ImportServices, { body, check = () => {}, dryRun = false }: Sent) {
  const url = new URL(`http://footfall.test/?name=e.jsonl&dryRun=${dryRun}`);
  const request = new Request(url, { method: "POST", body });
  noteAllowed(request, () => Promise.resolve(check()));
  let recorded = 0;
  const record = () => Promise.resolve(void recorded++);
  const wanted = { project: PROJECT, request, url, record };
  const outcome = await importFile(services, wanted)
    .then((reply) => reply.json(), (error) => error);
  return { outcome, recorded };
}

const mayNoMore = () => new Problem("invalid_token", "The token is not valid any more.");

Deno.test("an uploaded file: who may store it is looked at before each portion", async () => {
  using clock = new SetClock();
  const { services, writes } = world();
  let asked = 0;
  const check = () => {
    clock.nowMs += ALLOWED_BODY_MS_MAX;
    // Once behind the body, then before each portion.
    if (++asked === 4) throw mayNoMore();
  };
  clock.nowMs = 0;
  const begun = send(services, { body: FILE, check });
  clock.nowMs = ALLOWED_BODY_MS_MAX;
  const { outcome, recorded } = await begun;
  assert.equal(outcome.code, "invalid_token");
  assert.deepEqual([writes.length, recorded, asked], [2, 1, 4]);
});

Deno.test("an uploaded file: it is recorded once it has come, by who may store it, unless it is a look", async () => {
  using clock = new SetClock();
  const { services, writes } = world();
  const whole = { body: FILE };
  assert.deepEqual((await send(services, whole)).recorded, 1);
  assert.deepEqual((await send(services, { ...whole, dryRun: true })).recorded, 0);
  const before = writes.length;
  const begun = send(services, {
    ...whole,
    check: () => {
      throw mayNoMore();
    },
  });
  clock.nowMs = ALLOWED_BODY_MS_MAX;
  const { outcome, recorded } = await begun;
  assert.deepEqual([outcome.code, recorded, writes.length], ["invalid_token", 0, before]);
});
