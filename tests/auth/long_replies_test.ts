import assert from "node:assert/strict";
import { LongReplies } from "../../src/auth/long_replies.ts";
import { unauthorized } from "../../src/auth/access.ts";
import { DatabaseUnavailable } from "../../src/db/sql.ts";
import { isLong } from "../../src/http/long_reply.ts";
import { pause } from "../support/server_process.ts";
import { BASE, newEvent, PUBLIC_PEER, TestApp } from "../support/app.ts";

const ADA = { subject: "ada", scopes: new Set<string>(), projects: "*", expiresAtMs: 1 } as const;

function endless() {
  const left = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    cancel: () => left.resolve(),
  });
  return { reply: new Response(body, { headers: { "X-Kept": "1" } }), left: left.promise };
}

Deno.test("long replies: one breaks off when its token is revoked, and only then", async () => {
  let failure: unknown = null;
  const replies = new LongReplies(() =>
    failure === null ? Promise.resolve() : Promise.reject(failure)
  );
  const { reply, left } = endless();
  const watched = replies.watched({ who: ADA, request: new Request(BASE) }, reply);
  assert.equal(isLong(watched), true);
  assert.equal(watched.headers.get("x-kept"), "1");
  const reader = watched.body!.getReader();
  for (const passing of [null, new DatabaseUnavailable("away")]) {
    failure = passing;
    await replies.endRefused();
    assert.equal((await reader.read()).done, false);
  }
  failure = unauthorized("invalid_token", "It has been revoked.");
  await replies.endRefused();
  await assert.rejects(async () => {
    while (!(await reader.read()).done) { /* what was on its way */ }
  });
  await left;
  await pause(0);
  assert.equal(replies.listeners, 0);
});

Deno.test("long replies: ends to watch when the client disconnects, and for HEAD", async () => {
  const replies = new LongReplies(() => Promise.resolve());
  const gone = endless();
  const watched = replies.watched({ who: ADA, request: new Request(BASE) }, gone.reply);
  assert.equal(replies.listeners, 1);
  await watched.body!.cancel();
  await gone.left;
  const head = endless();
  const request = new Request(BASE, { method: "HEAD" });
  assert.equal(await replies.watched({ who: ADA, request }, head.reply).text(), "");
  await head.left;
  await pause(0);
  assert.equal(replies.listeners, 0);
});

Deno.test("long replies: exports, archives and all of a person end with their token", async () => {
  const app = await new TestApp({}).start();
  try {
    const project = await app.project();
    await app.post(project, [newEvent({ userId: "ada" })]);
    app.app.startJobs();
    const { body: { token } } = await app.admin("POST", "/v1/internal/tokens", {
      projects: ["*"],
      scope: "read write jobs admin people",
      ttlSeconds: 600,
      subject: "tester",
    });
    const headers = { Authorization: `Bearer ${token}`, Accept: "application/x-ndjson" };
    const ask = (path: string) => app.app.fetch(new Request(BASE + path, { headers }), PUBLIC_PEER);
    const query = `project=${project.id}`;
    const archive = await ask("/v1/archive");
    for (
      const path of [
        `/v1/events?${query}`,
        `/v1/actors/ada?${query}`,
        `/v1/archive/figures?${query}`,
      ]
    ) {
      const reply = await ask(path);
      assert.equal(reply.status, 200, path);
      assert.equal(isLong(reply), true, path);
      await reply.body?.cancel();
    }
    assert.equal(isLong(archive), true);
    const reader = archive.body!.getReader();
    await reader.read();
    assert.equal((await app.admin("DELETE", "/v1/internal/tokens")).status, 200);
    await assert.rejects(reader.closed, { code: "invalid_token" });
  } finally {
    await app.stop();
  }
});
