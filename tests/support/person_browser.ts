import assert from "node:assert/strict";
import { CHROME, type Json, type Reply, type TestApp } from "./app.ts";

export const PASSWORD = "three small green boats";

interface Asking {
  readonly headers?: Record<string, string>;
  readonly peer?: string;
}

/** What a person's browser does with cookies: keeps them, and sends them with an `Origin`. */
export class PersonBrowser {
  readonly cookies = new Map<string, string>();
  /** The last `Set-Cookie`, whole. */
  setCookie: string | null = null;

  constructor(
    readonly app: Pick<TestApp, "fetch">,
    readonly origin = "http://footfall.test",
    readonly userAgent = CHROME,
  ) {}

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  async ask(method: string, path: string, body?: unknown, asking: Asking = {}): Promise<Reply> {
    const headers: Record<string, string> = { "User-Agent": this.userAgent, Origin: this.origin };
    if (this.cookies.size > 0) headers.Cookie = this.cookie;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const init = {
      method,
      headers: { ...headers, ...asking.headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const reply = await this.app.fetch(path, init, asking.peer ?? "203.0.113.7");
    const set = reply.headers.get("set-cookie");
    if (set !== null) this.#keep(set);
    return reply;
  }

  #keep(set: string): void {
    this.setCookie = set;
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
    if (value === "") this.cookies.delete(name);
    else this.cookies.set(name, value);
  }

  async signIn(email: string, password = PASSWORD, asking: Asking = {}): Promise<Reply> {
    return await this.ask("POST", "/v1/auth/sign-in", { email, password }, asking);
  }

  /** A token of the session. */
  async token(): Promise<string> {
    const reply = await this.ask("POST", "/v1/auth/token");
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    return reply.body.token;
  }

  /** Asks with a token, as the page does. */
  async as(token: string, method: string, path: string, body?: unknown): Promise<Reply> {
    return await this.ask(method, path, body, { headers: { Authorization: `Bearer ${token}` } });
  }
}

/** Makes a person who has joined, with PASSWORD. */
export async function person(app: TestApp, settings: Json): Promise<{ id: string; email: string }> {
  const email = `${crypto.randomUUID().slice(0, 8)}@example.com`;
  const { status, body } = await app.admin("POST", "/v1/people", {
    email,
    password: PASSWORD,
    ...settings,
  });
  assert.equal(status, 201, JSON.stringify(body));
  return body.person;
}

/** The browser of a new person, signed in. */
export async function signedIn(app: TestApp, settings: Json): Promise<PersonBrowser> {
  const { email } = await person(app, settings);
  const browser = new PersonBrowser(app);
  const reply = await browser.signIn(email);
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return browser;
}
