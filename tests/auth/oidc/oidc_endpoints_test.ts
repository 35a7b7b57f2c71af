import assert from "node:assert/strict";
import { OIDC_FLOW_S_MAX } from "../../../src/auth/oidc/oidc_limits.ts";
import { BASE, type Reply, TestApp } from "../../support/app.ts";
import { type RunningProvider, signInThere, startProvider } from "./provider.ts";
import { CLIENT_ID, CLIENT_SECRET } from "./provider_process.ts";

const CALLBACK = `${BASE}/v1/auth/oidc/callback`;

/** A browser that keeps cookies, as far as these tests need one. */
class Browser {
  readonly jar = new Map<string, string>();
  constructor(readonly app: TestApp) {}

  async get(path: string): Promise<Reply> {
    const reply = await this.app.fetch(path, {
      headers: { Cookie: [...this.jar].map(([name, value]) => `${name}=${value}`).join("; ") },
    });
    for (const cookie of reply.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie)!;
      if (value === "") this.jar.delete(name);
      else this.jar.set(name, value);
    }
    return reply;
  }

  /** Through the provider as `login`. @returns where in the dashboard it ends */
  async signIn(login: string, query = ""): Promise<string> {
    const start = await this.get(`/v1/auth/oidc/start${query}`);
    assert.equal(start.status, 303);
    const back = await signInThere(start.headers.get("location")!, login);
    return await this.arrive(back);
  }

  async arrive(back: URL): Promise<string> {
    assert.equal(back.origin + back.pathname, CALLBACK);
    const reply = await this.get(back.pathname + back.search);
    assert.equal(reply.status, 303, JSON.stringify(reply.body));
    return reply.headers.get("location")!;
  }

  /** Whether somebody is signed in. */
  async isIn(): Promise<boolean> {
    const { status } = await this.get("/v1/auth/passkeys");
    assert.ok([200, 401].includes(status));
    return status === 200;
  }
}

async function withProvider(
  env: Record<string, string>,
  work: (app: TestApp, provider: RunningProvider) => Promise<void>,
): Promise<void> {
  const provider = await startProvider({ port: 0, redirectUri: CALLBACK, keyId: "first" });
  const app = await new TestApp({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: CLIENT_ID,
    OIDC_CLIENT_SECRET: CLIENT_SECRET,
    ...env,
  }).start();
  try {
    await work(app, provider);
  } finally {
    await app.stop();
    await provider.stop();
  }
}

Deno.test({
  name: "oidc: who may sign in arrives at the page they wanted; others are told why not",
  fn: () =>
    withProvider({ OIDC_ALLOWED_DOMAINS: "shop.example" }, async (app) => {
      const ada = new Browser(app);
      assert.equal(await ada.isIn(), false);
      const asked = `?returnTo=${encodeURIComponent("/?view=funnels")}`;
      assert.equal(await ada.signIn("ada", asked), `${BASE}/?view=funnels`);
      assert.equal(await ada.isIn(), true);

      const eve = new Browser(app);
      assert.equal(await eve.signIn("unverified-eve"), `${BASE}/#provider=unverified`);
      assert.equal(await eve.signIn("eve@elsewhere.example"), `${BASE}/#provider=uninvited`);
      assert.equal(await eve.isIn(), false);
    }),
});

Deno.test({
  name:
    "oidc: who is known already follows a set-up link as owner, and uses up nobody's invitation",
  fn: () =>
    withProvider({ OIDC_ALLOWED_DOMAINS: "shop.example" }, async (app) => {
      const ada = new Browser(app);
      await ada.signIn("ada");
      const person = async () => (await app.admin("GET", "/v1/people")).body.people[0];
      const { email, role } = await person();
      assert.equal(role, "viewer");
      const invited = { email: "bob@elsewhere.example", role: "viewer", projects: ["*"] };
      const { body: { invitation } } = await app.admin("POST", "/v1/people", invited);
      const token = invitation.url.split("#invitation=")[1];
      assert.equal(await ada.signIn("ada", `?invitation=${token}`), `${BASE}/`);
      const look = await app.fetch("/v1/auth/invitation/look", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ token }),
      });
      assert.equal(look.body.email, invited.email, JSON.stringify(look.body));

      const setup = await app.app.makeSetUpLink();
      assert.equal(await ada.signIn("ada", `?setup=${setup}`), `${BASE}/`);
      assert.equal((await person()).role, "owner");
      const { body: { rows } } = await app.admin("GET", "/v1/audit");
      const told = rows.find(({ what }: { what: string }) => what === "owner.create");
      assert.equal(told?.subject, email);
      assert.equal(
        await new Browser(app).signIn("ada", `?setup=${setup}`),
        `${BASE}/#provider=link_over`,
      );
    }),
});

Deno.test({
  name: "oidc: a sign-in by the e-mail address ends the person's invitation",
  fn: () =>
    withProvider({}, async (app) => {
      const invited = { email: "ada@shop.example", role: "viewer", projects: ["*"] };
      const { body: { invitation } } = await app.admin("POST", "/v1/people", invited);
      const ada = new Browser(app);
      assert.equal(await ada.signIn("ada"), `${BASE}/`);
      assert.equal(await ada.isIn(), true);
      const token = invitation.url.split("#invitation=")[1];
      const thief = await app.fetch("/v1/auth/invitation", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ token, password: "five small red cars" }),
      });
      assert.deepEqual([thief.status, thief.body.code], [403, "expired_link"]);
    }),
});

Deno.test({
  name: "oidc: a role claim makes the person, and its role follows the claim",
  fn: () =>
    withProvider({ OIDC_ROLE_CLAIM: "roles" }, async (app) => {
      const editor = new Browser(app);
      assert.equal(await editor.signIn("editor-ed"), `${BASE}/`);
      assert.equal(await editor.isIn(), true);
      const namesake = new Browser(app);
      const taken = `${BASE}/#provider=address_taken`;
      assert.equal(await namesake.signIn("editor-ed@shop.example"), taken, "another account");
      const staff = new Browser(app);
      assert.equal(await staff.signIn("ada"), `${BASE}/#provider=uninvited`);
    }),
});

Deno.test({
  name:
    "oidc: an answer counts once, in the browser that asked, in its time; nobody is led elsewhere",
  fn: () =>
    withProvider({ OIDC_ALLOWED_DOMAINS: "shop.example" }, async (app, provider) => {
      const ada = new Browser(app);
      const start = await ada.get("/v1/auth/oidc/start");
      const back = await signInThere(start.headers.get("location")!, "ada");
      const thief = new Browser(app);
      assert.equal(await thief.arrive(back), `${BASE}/#provider=expired`, "another browser");
      await thief.get("/v1/auth/oidc/start");
      assert.equal(await thief.arrive(back), `${BASE}/#provider=refused`, "another sign-in");
      assert.equal(await thief.isIn(), false);
      const cookie = ada.jar.get("footfall-oidc")!;
      ada.jar.set("footfall-oidc", cookie.slice(0, -2));
      assert.equal(await ada.arrive(back), `${BASE}/#provider=expired`, "a forged cookie");

      for (const elsewhere of ["//evil.example/", "/\\evil.example", "https://evil.example", "x"]) {
        const there = `?returnTo=${encodeURIComponent(elsewhere)}`;
        assert.equal(await new Browser(app).signIn("ada", there), `${BASE}/`);
      }
      const over = new Browser(app);
      assert.equal(
        await over.signIn("ada", "?setup=never-given-out"),
        `${BASE}/#provider=link_over`,
      );
      assert.equal(await over.isIn(), false);

      await provider.stop();
      const late = new Browser(app);
      assert.equal(
        (await late.get("/v1/auth/oidc/start")).headers.get("location")?.startsWith(
          provider.issuer,
        ),
        true,
        "what the provider said of itself is believed for an hour",
      );
      assert.match(start.headers.getSetCookie()[0]!, new RegExp(`Max-Age=${OIDC_FLOW_S_MAX};`));
    }),
});

Deno.test({
  name: "oidc: an unavailable provider is reported in the dashboard and in the log",
  async fn() {
    const app = await new TestApp({
      OIDC_ISSUER: "http://127.0.0.1:1",
      OIDC_CLIENT_ID: CLIENT_ID,
    }).start();
    try {
      const reply = await new Browser(app).get("/v1/auth/oidc/start?returnTo=/?view=goals");
      assert.equal(reply.headers.get("location"), `${BASE}/?view=goals#provider=unavailable`);
      assert.ok(app.logLines.some((line) => line.includes("identity provider")));
    } finally {
      await app.stop();
    }
  },
});

Deno.test({
  name: "oidc: of sign-ins in two tabs, the earlier one's answer keeps the later one's cookie",
  fn: () =>
    withProvider({ OIDC_ALLOWED_DOMAINS: "shop.example" }, async (app) => {
      const browser = new Browser(app);
      const begin = async () => (await browser.get("/v1/auth/oidc/start")).headers.get("location")!;
      const [earlier, later] = [await begin(), await begin()];
      assert.match(await browser.arrive(await signInThere(earlier, "ada")), /#provider=refused$/);
      assert.equal(await browser.isIn(), false);
      assert.equal(await browser.arrive(await signInThere(later, "ada")), `${BASE}/`);
      assert.equal(await browser.isIn(), true);
    }),
});

Deno.test("oidc: where no provider is configured, that is said", async () => {
  const app = await new TestApp({}).start();
  try {
    for (const path of ["/v1/auth/oidc/start", "/v1/auth/oidc/callback"]) {
      const { status, body } = await app.fetch(path);
      assert.equal(status, 409);
      assert.match(body.detail, /OIDC_ISSUER/);
    }
  } finally {
    await app.stop();
  }
});
