import assert from "node:assert/strict";
import { openEmbedded } from "../../src/db/embedded.ts";
import { getReadiness } from "../../src/server/health_endpoints.ts";
import { assertProblem, CHROME, newEvent, TestApp } from "../support/app.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import { findPostgresBinaries, startPostgres } from "../support/throwaway_postgres.ts";

const EVENTS = "/v1/events";

Deno.test("health: a server before, during and after its service", async (t) => {
  const server = await new TestApp({}).start({ prepare: false });
  const utf8 = new TextEncoder();
  const key = { "X-API-Key": "pk_nobody" };

  await t.step("without its schema it is live, not ready, and never says 401", async () => {
    assert.equal((await server.fetch("/healthz")).status, 200);
    const ready = await server.fetch("/readyz");
    assert.equal(ready.status, 503);
    assert.ok(ready.headers.has("retry-after"));
    assert.deepEqual(
      [
        ready.body.checks.database.ok,
        ready.body.checks.migrations.ok,
        ready.body.checks.draining.ok,
      ],
      [true, false, true],
    );
    const post = { method: "POST", headers: key, body: '{"events":[]}' };
    const reply = await server.fetch(EVENTS, post);
    assertProblem(reply, 503, "database_unavailable");
    assert.ok(reply.headers.has("retry-after"));
    assert.equal(reply.headers.get("access-control-allow-origin"), "*");
    assertProblem(await server.fetch(EVENTS), 503, "database_unavailable");
    assert.equal((await server.fetch(EVENTS, { method: "OPTIONS" })).status, 204);
  });

  await server.app.prepare("serve");
  const project = await server.project();

  await t.step("prepared, it is ready, each dependency named", async () => {
    const { status, body } = await server.fetch("/readyz");
    assert.equal(status, 200);
    assert.equal(body.status, "ready");
    for (const check of Object.values(body.checks) as { ok: boolean; message: string }[]) {
      assert.equal(check.ok, true);
      assert.ok(check.message.length > 5);
    }
  });

  await t.step("metrics count events by what became of them, and requests by route", async () => {
    const event = newEvent();
    await server.post(project, [event, newEvent(), { eventId: "no" }, { name: "no id" }]);
    await server.post(project, [event]);
    await server.fetch("/v1/made/up/path");
    assertProblem(await server.fetch("/metrics"), 403, "address_not_allowed");
    const { body, headers } = await server.fetch("/metrics", {}, "127.0.0.1");
    assert.match(headers.get("content-type") ?? "", /^text\/plain/);
    for (
      const line of [
        "footfall_events_accepted_total 3",
        "footfall_events_duplicate_total 1",
        'footfall_events_rejected_total{code="invalid_event_id"} 1',
        'footfall_events_rejected_total{code="missing_event_id"} 1',
        "footfall_batch_events_count 2",
        "footfall_commit_rows_count 2",
        "footfall_queue_depth_rows 0",
        'footfall_http_requests_total{route="/v1/events",method="POST",status="200"} 2',
        'footfall_http_requests_total{route="unknown",method="GET",status="404"} 1',
      ]
    ) assert.ok(body.split("\n").includes(line), line);
  });

  await t.step("over a socket, HEAD answers as GET does, without a body", async () => {
    const socket = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => server.app.fetch(request, "127.0.0.1"),
    );
    const base = `http://127.0.0.1:${socket.addr.port}`;
    for (const path of ["/", "/healthz", "/v1/openapi.json"]) {
      const response = await fetch(base + path, { method: "HEAD" });
      assert.deepEqual([response.status, await response.text()], [200, ""], path);
      assert.ok(response.headers.get("content-type"));
    }
    await socket.shutdown();
  });

  await t.step(
    "stopping, half-received bodies and new requests are 503, and nothing is lost",
    async () => {
      let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
      const half = new ReadableStream<Uint8Array>({ start: (made) => void (controller = made) });
      const late = newEvent();
      const headers = { "X-API-Key": project.publicKey, "User-Agent": CHROME };
      const halfSent = server.fetch(EVENTS, { method: "POST", headers, body: half });
      controller!.enqueue(utf8.encode('{"events":['));
      const body = new ReadableStream<Uint8Array>({
        async start(made) {
          await new Promise((resolve) => setTimeout(resolve, 300));
          made.enqueue(utf8.encode(JSON.stringify({ events: [late] })));
          made.close();
        },
      });
      const slow = server.fetch(EVENTS, { method: "POST", headers, body });
      await new Promise((resolve) => setTimeout(resolve, 50));
      const { app } = server;
      const stopped = server.stop();
      const refused = await app.fetch(
        new Request(`http://x${EVENTS}`, { method: "POST", headers, body: '{"events":[]}' }),
        null,
      );
      assert.equal(refused.status, 503);
      assert.equal((await refused.json()).code, "shutting_down");
      assert.ok(refused.headers.has("retry-after"));
      assert.equal(refused.headers.get("access-control-allow-origin"), "*");
      const ready = await app.fetch(new Request("http://x/readyz"), null);
      assert.equal(ready.status, 503);
      assert.equal((await ready.json()).checks.draining.ok, false);
      assert.equal((await app.fetch(new Request("http://x/healthz"), null)).status, 200);
      const arrived = await slow;
      assert.deepEqual([arrived.status, arrived.body.accepted], [200, 1]);
      assertProblem(await halfSent, 503, "shutting_down");
      await stopped;
      controller!.error(new Error("the test is over"));
    },
  );
});

Deno.test("health: an embedded server whose reads take long is ready", async () => {
  const folder = await makeDataDir("footfall-data-");
  const database = await openEmbedded(folder);
  try {
    const counted = Promise.withResolvers<void>();
    const reads = [1, 2].map(() => database.transaction(() => counted.promise));
    const state = { prepared: true, draining: false };
    const ready = await getReadiness({ database, replica: null, state, move: null });
    assert.deepEqual([ready.status, (await ready.json()).status], [200, "ready"]);
    counted.resolve();
    await Promise.all(reads);
  } finally {
    await database.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test({
  name: "health: while PostgreSQL is away everything is 503, never 401, and then as before",
  ignore: findPostgresBinaries() === null && Deno.env.get("CI") !== "true",
  async fn() {
    const cluster = await startPostgres();
    const server = await new TestApp({ DATABASE_URL: cluster.url }).start();
    try {
      const project = await server.project();
      const event = newEvent();
      assert.equal((await server.post(project, [event])).status, 200);
      await cluster.stop("immediate");
      for (const key of [project.publicKey, project.secretKey, "pk_nobody"]) {
        const reply = await server.post(project, [newEvent()], { key });
        assertProblem(reply, 503, "database_unavailable");
        assert.ok(reply.headers.has("retry-after"));
        assert.doesNotMatch(JSON.stringify(reply.body), /127\.0\.0\.1|ECONN|postgres:/);
      }
      assertProblem(await server.read(project), 503, "database_unavailable");
      const ready = await server.fetch("/readyz");
      assert.deepEqual([ready.status, ready.body.checks.database.ok], [503, false]);
      assert.equal((await server.fetch("/healthz")).status, 200);
      await cluster.start();
      assert.deepEqual((await server.post(project, [event, newEvent()])).body, {
        accepted: 2,
        duplicates: 1,
        rejected: [],
      });
      assert.equal((await server.fetch("/readyz")).status, 200);
    } finally {
      await server.stop();
      await cluster.remove();
    }
  },
});
