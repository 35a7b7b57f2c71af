import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { Project } from "../../src/auth/projects.ts";
import { BoundedFile } from "../../src/importers/bounded_file.ts";
import { READ_BYTES, UPLOAD_MS_MAX } from "../../src/importers/importer_limits.ts";
import { type InputFile, memoryFile } from "../../src/importers/input_file.ts";
import { UMAMI } from "../../src/importers/umami/source.ts";
import { BodyBudget } from "../../src/http/body_budget.ts";
import { ALLOWED_BODY_MS_MAX, noteAllowed } from "../../src/http/still_allowed.ts";
import type { Writer } from "../../src/ingest/writer.ts";
import { grouped } from "../../src/number_words.ts";
import { Problem } from "../../src/problem.ts";
import { type FileImportServices, importFile } from "../../src/server/file_import.ts";
import { fakeSql } from "../support/fake_sql.ts";
import { SHOP, shopExport } from "./shop_exports.ts";
import { id } from "./umami_export.ts";

const PROJECT = { projectId: 1, id: "prj_one", name: "One", ipStorage: null } as unknown as Project;
const BUDGET_BYTES = 64 * 1024 * 1024;

/** What a server stores of uploaded files: the numbers of events of its writes. */
function world(afterWrite = () => {}) {
  const writes: number[] = [];
  const services: FileImportServices = {
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
    budget: new BodyBudget(0, 1),
    uploads: new BodyBudget(BUDGET_BYTES, 1),
    ipStorage: "full",
    now: Date.now,
    observe: () => {},
  };
  return { services, writes };
}

/** A clock that stands still unless it is set, or goes on by a step each time that it is looked at. */
class SetClock implements Disposable {
  readonly #real = performance.now;
  nowMs = 0;
  stepMs = 0;

  constructor() {
    performance.now = () => this.nowMs += this.stepMs;
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
/** A file of PostHog's, of which 64 KiB are read at once. */
const fileOf = (lines: readonly string[]) => `${lines.join("\n")}\n`;
const FILE = fileOf(Array.from({ length: 2_000 }, (_, n) => line(n)));

interface Sent {
  readonly body: BodyInit;
  readonly check?: () => void;
  readonly whenRecorded?: () => void;
  readonly dryRun?: boolean;
}

/** Sends a file. @returns the reply or what was thrown, and how often it was recorded */
async function send(
  services: FileImportServices,
  { body, check = () => {}, whenRecorded = () => {}, dryRun = false }: Sent,
) {
  const url = new URL(`http://footfall.test/?name=e.jsonl&dryRun=${dryRun}`);
  const request = new Request(url, { method: "POST", body });
  noteAllowed(request, () => Promise.resolve(check()));
  let recorded = 0;
  const record = () => {
    recorded++;
    whenRecorded();
    return Promise.resolve();
  };
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

Deno.test("an uploaded file: where it cannot be read any further, what is stored by then is told", async () => {
  using clock = new SetClock();
  const { services, writes } = world(() => void (clock.nowMs += UPLOAD_MS_MAX / 2 + 1));
  const stored = () => writes.reduce((sum, events) => sum + events, 0);
  const late = await send(services, { body: FILE });
  assert.equal(writes.length, 2);
  assert.match(
    late.outcome.detail,
    new RegExp(`by the command line\\. Of its events, ${grouped(stored())} are`),
  );
  const packed = gzipSync(FILE);
  const cut = packed.subarray(0, packed.length - 100) as Uint8Array<ArrayBuffer>;
  const patient = world();
  const { outcome } = await send(patient.services, { body: cut });
  const events = patient.writes.reduce((sum, more) => sum + more, 0);
  assert.ok(events > 0);
  assert.match(
    outcome.detail,
    new RegExp(
      `it is cut off or damaged: .* Fetch it again\\. Of its events, ${
        grouped(events)
      } are stored\\.$`,
    ),
  );
  const looked = await send(patient.services, { body: cut, dryRun: true });
  assert.match(looked.outcome.detail, /Fetch it again\.$/);
});

const TOO_LONG = /it takes too long here: import it by the command line/;

Deno.test("an uploaded file: what takes longer than its time is given up, and not for want of a product", async () => {
  using clock = new SetClock();
  const slow = () => {
    clock.stepMs = UPLOAD_MS_MAX / 3;
  };
  for (const body of ["hello\n", FILE, shopExport("umami").bytes as Uint8Array<ArrayBuffer>]) {
    clock.stepMs = 0;
    const { services, writes } = world();
    const { outcome } = await send(services, { body, whenRecorded: slow });
    assert.equal(outcome.code, "unreadable_file");
    assert.match(outcome.detail, TOO_LONG);
    assert.deepEqual(writes, []);
  }
  clock.stepMs = 0;
  const { services, writes } = world();
  const body = shopExport("umami").bytes as Uint8Array<ArrayBuffer>;
  await send(services, { body, whenRecorded: () => void (clock.nowMs += UPLOAD_MS_MAX) });
  assert.equal(writes.reduce((sum, events) => sum + events, 0), SHOP.pageviews + SHOP.signups);
});

Deno.test("a bounded file: it is read as long, and as much in all, as it may be", async () => {
  using clock = new SetClock();
  const all = async (file: InputFile) => {
    let bytes = 0;
    for await (const chunk of file.read(0, file.size)) bytes += chunk.length;
    return bytes;
  };
  const file = memoryFile("f", new Uint8Array(2 * READ_BYTES));
  const bounded = new BoundedFile(file, { ms: 1_000, bytes: 5 * READ_BYTES });
  assert.equal(await all(bounded), file.size);
  clock.nowMs = 1_000;
  assert.equal(await all(bounded), file.size);
  bounded.assertWithin();
  await assert.rejects(all(bounded), TOO_LONG);
  const timed = new BoundedFile(file, { ms: 1_000, bytes: Infinity });
  clock.nowMs += 1_001;
  await assert.rejects(all(timed), TOO_LONG);
  assert.throws(() => timed.assertWithin(), TOO_LONG);
});

Deno.test("a bounded file: time that passes before the first row counts", async () => {
  using clock = new SetClock();
  const { name, bytes } = shopExport("umami");
  const whole = memoryFile(name, bytes);
  const slow: InputFile = {
    ...whole,
    async *read(start, end) {
      for await (const chunk of whole.read(start, end)) {
        clock.nowMs += 1_000;
        yield chunk;
      }
    },
  };
  const bounded = new BoundedFile(slow, { ms: 3_000, bytes: Infinity });
  const rows = UMAMI.rows([bounded], { read: () => {}, fileBegins: () => {} });
  await assert.rejects(rows.next(), TOO_LONG);
  assert.equal(clock.nowMs, 4_000);
});
