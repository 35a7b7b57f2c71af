import assert from "node:assert/strict";
import { type App, createApp, type Substitutes } from "../../src/server/app.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/http/log.ts";
import { parseJson } from "../../src/json_text.ts";
import { makeDataDir } from "./embedded_template.ts";
import { keepEngine } from "./kept_engine.ts";

/** A desktop browser, so that no event of a test counts as a bot's unless it wants to. */
export const CHROME =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36";
/** A public address that the built-in database knows to be in the United States. */
export const PUBLIC_PEER = "8.8.8.8";
export const BASE = "http://footfall.test";
const PENDING_READS_MAX = 60;

export type Json = Record<string, unknown>;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // Tests look into replies of every shape.
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

export interface TestProject {
  readonly id: string;
  readonly publicKey: string;
  readonly secretKey: string;
}

export interface PostOptions {
  /** Null sends no key. Default: the project's public key. */
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
  readonly peer?: string | null;
  /** Query string of the request, `?` included. */
  readonly query?: string;
}

/** Everything of a reply; a body that is not JSON is left as text. */
export async function readReply(response: Response): Promise<Reply> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  const lines = response.headers.get("content-type")?.includes("ndjson") ?? false;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && !lines && text !== "" ? parseJson(text) : text,
  };
}

export class TestApp {
  readonly logLines: string[] = [];
  #app: App | null = null;
  readonly #folders: string[] = [];

  constructor(readonly env: Record<string, string>, readonly substitutes: Substitutes = {}) {}

  get app(): App {
    assert.ok(this.#app, "the app is not started");
    return this.#app;
  }

  /** `prepare: false` leaves the server as it is while its database is away. */
  async start({ prepare = true } = {}): Promise<this> {
    if (!("DATABASE_URL" in this.env)) await keepEngine();
    const dataDir = this.env.DATA_DIR ?? await this.#makeFolder();
    const config = readConfig({
      DATA_DIR: dataDir,
      JWT_SECRET: "a secret of the tests, forty bytes long.",
      LOG_LEVEL: "debug",
      ...this.env,
    });
    const log = createLog({
      level: config.logLevel,
      format: "json",
      colour: false,
      now: Date.now,
      write: (line) => this.logLines.push(line),
    });
    this.#app = await createApp(config, log, this.substitutes);
    if (prepare) await this.#app.prepare("serve");
    return this;
  }

  async #makeFolder(): Promise<string> {
    const folder = "DATABASE_URL" in this.env || this.substitutes.opening !== undefined
      ? await Deno.makeTempDir({ prefix: "footfall-app-" })
      : await makeDataDir("footfall-app-");
    this.#folders.push(folder);
    return folder;
  }

  async stop(): Promise<void> {
    await this.#app?.stop();
    this.#app = null;
    for (const folder of this.#folders.splice(0)) await Deno.remove(folder, { recursive: true });
  }

  /** A read is sent again while events are pending: on a slow machine counting them takes its time. */
  async fetch(path: string, init: RequestInit = {}, peer: string | null = PUBLIC_PEER) {
    const send = async () =>
      await readReply(await this.app.fetch(new Request(BASE + path, init), peer));
    let reply = await send();
    for (let i = 0; i < PENDING_READS_MAX && reply.body?.pending > 0; i++) reply = await send();
    return reply;
  }

  /** As the process's own token, which may do everything. */
  async admin(method: string, path: string, body?: unknown): Promise<Reply> {
    const headers: Record<string, string> = { Authorization: `Bearer ${this.app.controlToken}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    return await this.fetch(path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async key(project: string, wanted: Json): Promise<{ id: string; key: string }> {
    const { status, body } = await this.admin("POST", `/v1/projects/${project}/keys`, wanted);
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  }

  async project(settings: Json = {}): Promise<TestProject> {
    const { status, body } = await this.admin("POST", "/v1/projects", {
      name: "Test",
      ...settings,
    });
    assert.equal(status, 201, JSON.stringify(body));
    const publicKey = (await this.key(body.id, { kind: "public" })).key;
    const secretKey = (await this.key(body.id, { kind: "secret" })).key;
    return { id: body.id, publicKey, secretKey };
  }

  async token(projects: string[], scope: string): Promise<string> {
    const { status, body } = await this.admin("POST", "/v1/internal/tokens", {
      projects,
      scope,
      ttlSeconds: 600,
      subject: "tester",
    });
    assert.equal(status, 201, JSON.stringify(body));
    return body.token;
  }

  /** Posts a body as it is. */
  async postRaw(
    project: TestProject,
    body: BodyInit | null,
    options: PostOptions = {},
  ): Promise<Reply> {
    const headers = new Headers({ "User-Agent": CHROME });
    const key = options.key === undefined ? project.publicKey : options.key;
    if (key !== null) headers.set("X-API-Key", key);
    for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
    const path = `/v1/events${options.query ?? ""}`;
    const peer = options.peer === undefined ? PUBLIC_PEER : options.peer;
    return await this.fetch(path, { method: "POST", headers, body }, peer);
  }

  async post(
    project: TestProject,
    events: unknown[],
    options: PostOptions & { envelope?: Json } = {},
  ): Promise<Reply> {
    const body = JSON.stringify({ events, ...options.envelope });
    return await this.postRaw(project, body, {
      ...options,
      headers: { "Content-Type": "application/json", ...options.headers },
    });
  }

  async read(project: TestProject | string, query: Record<string, string> = {}, headers = {}) {
    const id = typeof project === "string" ? project : project.id;
    const search = new URLSearchParams({ project: id, ...query });
    return await this.fetch(`/v1/events?${search}`, {
      headers: { Authorization: `Bearer ${this.app.controlToken}`, ...headers },
    });
  }

  /** All stored events of a project, bots included; without a range those of ten years. */
  async stored(project: TestProject, query: Record<string, string> = {}): Promise<Json[]> {
    const year = new Date().getUTCFullYear();
    const range = { from: `${year - 8}-01-01`, to: `${year + 1}-12-31` };
    const { status, body } = await this.read(project, {
      bots: "include",
      limit: "1000",
      ...range,
      ...query,
    });
    assert.equal(status, 200, JSON.stringify(body));
    return body.events;
  }

  /** Posts one event, which must be accepted, and reads it back. */
  // deno-lint-ignore no-explicit-any
  async roundTrip(project: TestProject, event: Json, options: PostOptions = {}): Promise<any> {
    const sent = { eventId: crypto.randomUUID(), ...event };
    const { status, body } = await this.post(project, [sent], options);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.accepted, 1, JSON.stringify(body));
    const found = (await this.stored(project)).find((one) =>
      one.eventId === sent.eventId.toLowerCase()
    );
    assert.ok(found, "the event is not among the stored ones");
    return found;
  }
}

const shared = new Map<string, TestApp>();

/**
 * One server for the tests of all files of an entry (`run_all.ts`) that ask for the same: starting it takes 0.5 s of a
 * processor. So each test has projects of its own, and no test asserts that there are no others.
 */
export function sharedApp(env: Record<string, string> = {}): TestApp {
  const key = JSON.stringify(env);
  const app = shared.get(key) ?? keptApp(env);
  shared.set(key, app);
  return app;
}

/** A server that the tests of an entry keep from the first to the last. */
export function keptApp(env: Record<string, string> = {}, substitutes: Substitutes = {}): TestApp {
  const app = new TestApp(env, substitutes);
  Deno.test.beforeAll(async () => void await app.start());
  Deno.test.afterAll(() => app.stop());
  return app;
}

export function newEvent(event: Json = {}): Json {
  return { eventId: crypto.randomUUID(), ...event };
}

export function assertProblem(reply: Reply, status: number, code: string): void {
  const told = JSON.stringify(reply.body).slice(0, 500);
  assert.deepEqual([reply.status, reply.body.code], [status, code], told);
  assert.match(reply.headers.get("content-type") ?? "", /^application\/problem\+json/);
  const { type, title, detail, requestId } = reply.body;
  for (const text of [type, title, detail]) assert.ok(typeof text === "string" && text !== "");
  assert.equal(reply.body.status, status);
  assert.equal(requestId, reply.headers.get("x-request-id"));
}
