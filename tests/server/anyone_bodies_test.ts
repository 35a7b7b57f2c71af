import assert from "node:assert/strict";
import {
  ANYONE_JSON_BODIES_IN_FLIGHT_BYTES_MAX,
  ANYONE_JSON_BYTES_MAX,
} from "../../src/http/json_limits.ts";
import { PASSKEY_ANSWER_BYTES_MAX } from "../../src/auth/passkeys/passkey_limits.ts";
import { EMAIL_LENGTH_MAX, PASSWORD_LENGTH_MAX } from "../../src/auth/people/people_limits.ts";
import {
  JSON_BODIES_IN_FLIGHT_BYTES_MAX,
  NAME_LENGTH_MAX,
  REQUEST_JSON_BYTES_MAX,
} from "../../src/limits.ts";
import { assertProblem, BASE, PUBLIC_PEER, sharedApp } from "../support/app.ts";

const test = sharedApp();
const JSON_TYPE = { "Content-Type": "application/json" };
const LOOK = "/v1/auth/invitation/look";
/** How long the server is given to read what has come, and how often that is looked at. */
const ARRIVAL_MS = 200;
const LOOKS_MAX = 50;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Routes that anybody may ask and that read no JSON. */
const WITHOUT_JSON = new Set([
  "/v1/auth/sign-out",
  "/v1/auth/passkeys/sign-in/options",
  "/v1/unsubscribe",
]);
/** Routes whose bodies may be larger than most. */
const LARGER: Readonly<Record<string, number>> = {
  "/v1/auth/passkeys/sign-in": PASSKEY_ANSWER_BYTES_MAX,
};

const post = (path: string, body: string) =>
  test.fetch(path, { method: "POST", headers: JSON_TYPE, body });
const look = () => post(LOOK, '{"token":"of nobody"}');
const signIn = () => post("/v1/auth/sign-in", '{"email":"ada@example.com","password":"wrong"}');

/** Requests whose bodies begin with so many bytes and then stay away, until all of them are let go. */
class SlowRequests implements AsyncDisposable {
  readonly #goneAway: (() => void)[] = [];
  readonly #replies: Promise<Response>[] = [];

  send(path: string, bytes: number): void {
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        controller.enqueue(new Uint8Array(bytes).fill(0x20));
        this.#goneAway.push(() => controller.close());
      },
      cancel: () => {},
    });
    const request = new Request(BASE + path, { method: "POST", headers: JSON_TYPE, body });
    this.#replies.push(test.app.fetch(request, PUBLIC_PEER));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const goAway of this.#goneAway) {
      try {
        goAway();
      } catch {
        // The server has refused this body already.
      }
    }
    for (const reply of await Promise.all(this.#replies)) await reply.body?.cancel();
  }
}

Deno.test("bodies without credentials take no room from callers who are known", async () => {
  await using slow = new SlowRequests();
  const count = JSON_BODIES_IN_FLIGHT_BYTES_MAX / REQUEST_JSON_BYTES_MAX;
  for (let i = 0; i < count; i++) slow.send(LOOK, REQUEST_JSON_BYTES_MAX);
  await pause(ARRIVAL_MS);
  const { status, body } = await test.admin("POST", "/v1/projects", { name: "Meanwhile" });
  assert.equal(status, 201, JSON.stringify(body));
  assertProblem(await signIn(), 401, "invalid_credentials");
});

Deno.test("bodies without credentials have a budget of their own, whose bytes are returned", async () => {
  {
    await using slow = new SlowRequests();
    let left = ANYONE_JSON_BODIES_IN_FLIGHT_BYTES_MAX;
    for (; left >= ANYONE_JSON_BYTES_MAX; left -= ANYONE_JSON_BYTES_MAX) {
      slow.send(LOOK, ANYONE_JSON_BYTES_MAX);
    }
    await pause(ARRIVAL_MS);
    assertProblem(await signIn(), 401, "invalid_credentials");
    slow.send(LOOK, left);
    let refused = await look();
    for (let i = 0; i < LOOKS_MAX && refused.status !== 503; i++) {
      await pause(ARRIVAL_MS);
      refused = await look();
    }
    assertProblem(refused, 503, "overloaded");
    assert.ok(refused.headers.has("retry-after"));
    assertProblem(await signIn(), 503, "overloaded");
    const { status, body } = await test.admin("POST", "/v1/projects", { name: "All the same" });
    assert.equal(status, 201, JSON.stringify(body));
  }
  assertProblem(await signIn(), 401, "invalid_credentials");
});

Deno.test("every route that is open to anyone takes small bodies only", async () => {
  const routes = test.app.routes.filter(({ method, access, path }) =>
    method === "POST" && (access === "anyone" || access === "open") && !WITHOUT_JSON.has(path)
  );
  assert.ok(routes.length >= 7, String(routes.length));
  for (const { path } of routes) {
    const bytesMax = LARGER[path] ?? ANYONE_JSON_BYTES_MAX;
    const most = await post(path, "{}".padEnd(bytesMax));
    assert.notEqual(most.status, 413, path);
    assertProblem(await post(path, "{}".padEnd(bytesMax + 1)), 413, "body_too_large");
  }
});

Deno.test("the largest body that such a route takes fits, with each character escaped", async () => {
  const escaped = (value: Record<string, string>) =>
    JSON.stringify(value).replace(
      /[^\x20-\x7e]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  const email = `${"ä".repeat(EMAIL_LENGTH_MAX - 2)}@ä`;
  const password = "ä".repeat(PASSWORD_LENGTH_MAX);
  const name = "ä".repeat(NAME_LENGTH_MAX);
  const owner = escaped({ setupToken: "ä".repeat(200), email, name, password });
  assertProblem(await post("/v1/auth/owner", owner), 403, "invalid_link");
  const entry = escaped({ email: email + "ä".repeat(EMAIL_LENGTH_MAX), password });
  assertProblem(await post("/v1/auth/sign-in", entry), 401, "invalid_credentials");
});
