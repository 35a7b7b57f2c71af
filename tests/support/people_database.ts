import { createPerson, type Person } from "../../src/auth/people/people.ts";
import { startSession } from "../../src/auth/people/sessions.ts";
import { openDatabase } from "../../src/db/open.ts";
import type { Database } from "../../src/db/sql.ts";
import { TestApp } from "./app.ts";
import { makeDataDir } from "./embedded_template.ts";
import { keepEngine } from "./kept_engine.ts";
import { PersonBrowser } from "./person_browser.ts";

/** An app, and its database: for people who need no password, and for what only time would bring. */
export class PeopleApp {
  readonly app: TestApp;
  #database: Database | null = null;
  #dataDir: string | null = null;
  readonly #opening = Promise.withResolvers<Database>();

  constructor(env: Record<string, string> = {}) {
    this.app = new TestApp(env, { opening: this.#opening.promise });
  }

  get sql(): Database {
    if (this.#database === null) throw new Error("The app is not started");
    return this.#database;
  }

  async start(): Promise<void> {
    await keepEngine();
    this.#dataDir = await makeDataDir("footfall-people-");
    this.#database = await openDatabase({
      databaseUrl: null,
      dataDir: this.#dataDir,
      statementTimeoutMs: 15_000,
      connectionsMax: 1,
    });
    this.#opening.resolve(this.#database);
    await this.app.start();
  }

  async stop(): Promise<void> {
    await this.app.stop();
    if (this.#dataDir !== null) await Deno.remove(this.#dataDir, { recursive: true });
  }

  /** Somebody who has joined, without a password, which would take its time to be hashed. */
  async person(role: Person["role"], projects: readonly string[] | "*" = "*"): Promise<Person> {
    return await createPerson(this.sql, {
      email: `${crypto.randomUUID().slice(0, 8)}@example.com`,
      name: "Somebody",
      role,
      projects,
      password: null,
      hasJoined: true,
      nowMs: Date.now(),
    });
  }

  /** A browser in which a person is signed in. */
  async browserOf(personId: string): Promise<PersonBrowser> {
    const at = { device: "Firefox on Linux", place: "US", address: "203.0.113.7" };
    const { secret } = await startSession(this.sql, { personId, at, nowMs: Date.now() });
    const browser = new PersonBrowser(this.app);
    browser.cookies.set("footfall", secret);
    return browser;
  }
}

/** One for all tests of a file. */
export function sharedPeopleApp(env: Record<string, string> = {}): PeopleApp {
  const shared = new PeopleApp(env);
  Deno.test.beforeAll(() => shared.start());
  Deno.test.afterAll(() => shared.stop());
  return shared;
}
