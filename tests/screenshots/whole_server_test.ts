import assert from "node:assert/strict";
import { onFreshEngines } from "../support/databases.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import {
  API_KEY,
  operatorToken,
  type ServerProcess,
  startServer,
  until,
} from "../support/server_process.ts";
import { OTHER_CLIENT_EVENT } from "./fixture_reach_pages.ts";
import { FixtureSite } from "./fixture_site.ts";

const PROJECT = "prj_default";
const SETTLED_MS_MAX = 90_000;
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) " +
  "Chrome/126.0.0.0 Safari/537.36";

/** What an operator needs of a server whose project is the fixture site. */
class Operator {
  constructor(readonly server: ServerProcess, readonly token: string) {}

  /** What is counted, once nothing is pending. */
  async totals(): Promise<Record<string, unknown>> {
    const read = async () => (await this.ask("GET", `/v1/kpis?project=${PROJECT}`)).body;
    await until(SETTLED_MS_MAX, async () => (await read()).pending === 0, "all is counted");
    return (await read()).totals;
  }

  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(`${this.server.url}${path}`, {
      method,
      headers: {
        "Authorization": `Bearer ${this.token}`,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  async visit(site: FixtureSite, paths: readonly string[]): Promise<void> {
    const events = paths.map((path) => ({
      eventId: crypto.randomUUID(),
      name: "page_view",
      url: `${site.url}${path}`,
      anonymousId: "somebody",
    }));
    const response = await fetch(`${this.server.url}/v1/events`, {
      method: "POST",
      headers: { "X-API-Key": API_KEY, "User-Agent": BROWSER, "Content-Type": "application/json" },
      body: JSON.stringify({ events }),
    });
    assert.equal((await response.json()).accepted, paths.length);
  }

  /** Orders pictures and waits for them. */
  async capture(body: Record<string, unknown>) {
    const { status, body: reply } = await this.ask(
      "POST",
      "/v1/internal/jobs/heatmap-captures",
      { project: PROJECT, ...body },
      { Prefer: "wait=90" },
    );
    assert.equal(status, 200, JSON.stringify(reply));
    return reply.job.captures as {
      path: string;
      device: string;
      status: string;
      message: string;
    }[];
  }

  async heatmap(path: string, device: string) {
    const query = new URLSearchParams({ project: PROJECT, path, device, kind: "click" });
    return (await this.ask("GET", `/v1/heatmaps?${query}`)).body;
  }
}

async function started(env: Record<string, string>, site: FixtureSite): Promise<Operator> {
  const server = await startServer({
    CHROME_NO_SANDBOX: "1",
    DEFAULT_SITE_URL: site.url,
    ...env,
  });
  return new Operator(server, await operatorToken());
}

/** Width and height of a JPEG: those of its frame header. */
function jpegSize(bytes: Uint8Array): [width: number, height: number] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 2; at < bytes.length;) {
    const marker = view.getUint16(at);
    if (marker >= 0xffc0 && marker <= 0xffc3) {
      return [view.getUint16(at + 7), view.getUint16(at + 5)];
    }
    at += 2 + view.getUint16(at + 2);
  }
  throw new Error("No JPEG");
}

/** Processes that have the given text among their arguments. */
function processesWith(text: string): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    if (!Number.isInteger(pid)) return false;
    try {
      return Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(text);
    } catch {
      return false;
    }
  });
}

onFreshEngines(
  "captures: from the order to the picture, by a server with its own permissions",
  async (t, db) => {
    await using site = new FixtureSite();
    const operator = await started(db.env, site);
    await using _server = operator.server;
    await operator.visit(site, ["/", "/", "/basic", "/missing"]);
    const viewsBefore = await operator.totals();

    await t.step("pictures of one path in three widths", async () => {
      const captures = await operator.capture({ path: "/" });
      assert.deepEqual(
        captures.map(({ path, device, status }) => [path, device, status]),
        ["desktop", "tablet", "mobile"].map((device) => ["/", device, "captured"]),
      );
      for (
        const [device, width] of [["desktop", 1440], ["tablet", 820], ["mobile", 390]] as const
      ) {
        const { capture } = await operator.heatmap("/", device);
        assert.equal(capture.status, "captured");
        assert.ok(Date.parse(capture.capturedAt) > Date.now() - SETTLED_MS_MAX);
        assert.ok(Date.parse(capture.nextAttemptAt) > Date.now());
        assert.equal(capture.width, width);
        const image = await fetch(`${operator.server.url}${capture.imageUrl}`, {
          headers: { Authorization: `Bearer ${operator.token}` },
        });
        assert.equal(image.headers.get("content-type"), "image/jpeg");
        assert.deepEqual(jpegSize(await image.bytes()), [capture.width, capture.height]);
      }
    });

    await t.step("or the reason why there is none", async () => {
      const [asked] = await operator.capture({ path: "/basic", devices: ["desktop"] });
      assert.equal(asked!.status, "not_publicly_reachable");
      assert.match(asked!.message, /401|sign in/i);
      const [missing] = await operator.capture({ path: "/missing", devices: ["desktop"] });
      assert.equal(missing!.status, "page_not_found");
      const { capture } = await operator.heatmap("/missing", "desktop");
      assert.deepEqual([capture.status, capture.imageUrl], ["page_not_found", null]);
    });

    await t.step(
      "the daily job's pages, without naming one, leave the picture that did not change",
      async () => {
        const before = (await operator.heatmap("/", "desktop")).capture;
        const captures = await operator.capture({});
        assert.deepEqual(
          [...new Set(captures.map(({ path }) => path))].sort(),
          ["/", "/basic", "/missing"],
        );
        const after = (await operator.heatmap("/", "desktop")).capture;
        assert.equal(after.captureId, before.captureId, "an unchanged page keeps its picture");
        assert.ok(Date.parse(after.capturedAt) > Date.parse(before.capturedAt));
      },
    );

    await t.step("what another product's client sends of a capture is not taken", async () => {
      site.statsUrl = operator.server.url;
      const [asked] = await operator.capture({ path: "/other-client", devices: ["desktop"] });
      assert.equal(asked!.status, "captured");
      assert.ok(site.count("POST /stats/v1/t") > 0, "it was sent");
    });

    await t.step("captures are no visits, and metrics count them", async () => {
      assert.deepEqual(await operator.totals(), viewsBefore);
      assert.equal(site.count("POST /v1/events"), 0);
      const metrics = await (await fetch(`${operator.server.url}/metrics`)).text();
      assert.match(metrics, /footfall_captures_total\{status="captured"\} 7/);
    });

    await t.step("the same sent by anybody else is taken", async () => {
      const reply = await fetch(`${site.url}/stats/v1/t`, {
        method: "POST",
        headers: { "User-Agent": BROWSER },
        body: OTHER_CLIENT_EVENT,
      });
      assert.deepEqual([reply.status, await reply.json()], [200, { success: true }]);
      assert.notDeepEqual(await operator.totals(), viewsBefore);
    });

    // In order: a browser that outlives a killed server for a moment still writes into the folder.
    await operator.server.stop();
  },
);

Deno.test("captures: a server that is killed leaves no browser", async () => {
  const dataDir = await makeDataDir("footfall-killed-");
  try {
    await using site = new FixtureSite();
    const operator = await started({ DATA_DIR: dataDir }, site);
    await using server = operator.server;
    await operator.visit(site, ["/"]);
    await operator.ask("POST", "/v1/internal/jobs/heatmap-captures", {
      project: PROJECT,
      path: "/endless",
    });
    await until(
      SETTLED_MS_MAX,
      () => Promise.resolve(processesWith(dataDir).length > 1),
      "it runs",
    );
    await server.kill();
    await until(10_000, () => Promise.resolve(processesWith(dataDir).length === 0), "all ended");
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("captures: a missing browser is reported, and everything else works", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-browserless-" });
  try {
    await using site = new FixtureSite();
    const operator = await started({ DATA_DIR: dataDir, CHROME_PATH: import.meta.filename! }, site);
    await using _server = operator.server;
    await operator.visit(site, ["/"]);
    const captures = await operator.capture({ path: "/", devices: ["mobile"] });
    assert.deepEqual(captures.map(({ status }) => status), ["no_browser"]);
    assert.match(captures[0]!.message, /CHROME_PATH/);
    assert.equal((await operator.totals()).pageviews, 1);
    assert.equal((await operator.heatmap("/", "mobile")).capture.status, "no_browser");
    assert.equal(site.requests.length, 0);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
