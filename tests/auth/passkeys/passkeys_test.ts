import assert from "node:assert/strict";
import { type Browser, type Page } from "puppeteer-core";
import { PUBLIC_PEER, TestApp } from "../../support/app.ts";
import { addPasskeyDevice } from "../../support/passkey_device.ts";
import { launchChromium } from "../../support/chromium.ts";

const PASSWORD = "a horse that no battery staples";

/** What a page of ours does with a passkey, in the browser. */
const IN_PAGE = `
const call = async (method, path, body) => {
  const reply = await fetch(path, {
    method,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, body: text === "" ? null : JSON.parse(text) };
};
const made = async () => {
  const { body } = await call("POST", "/v1/auth/passkeys/options");
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(body);
  return (await navigator.credentials.create({ publicKey })).toJSON();
};
const keep = async (name, response) => await call("POST", "/v1/auth/passkeys", { name, response });
const make = async (name) => await keep(name, await made());
const answer = async () => {
  const { body } = await call("POST", "/v1/auth/passkeys/sign-in/options");
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(body);
  return (await navigator.credentials.get({ publicKey })).toJSON();
};
const enter = async (response) => await call("POST", "/v1/auth/passkeys/sign-in", { response });
`;

// deno-lint-ignore no-explicit-any
type Told = any;

async function run(page: Page, work: string, ...values: unknown[]): Promise<Told> {
  const names = values.map((_, i) => `v${i}`).join(", ");
  const list = values.map((value) => JSON.stringify(value)).join(", ");
  return await page.evaluate(`(async (${names}) => { ${IN_PAGE} ${work} })(${list})`);
}

/** A page with a device that makes and uses passkeys by itself. */
async function pageWithDevice(browser: Browser, url: string): Promise<Page> {
  const page = await (await browser.createBrowserContext()).newPage();
  await addPasskeyDevice(page);
  await page.goto(url);
  return page;
}

/** Invites somebody, who joins in this page with a password. */
async function join(app: TestApp, page: Page, email: string): Promise<void> {
  const person = { email, name: "Ada", role: "viewer", projects: ["*"] };
  const { status, body } = await app.admin("POST", "/v1/people", person);
  assert.equal(status, 201, JSON.stringify(body));
  const token = /=(.+)$/.exec(new URL(body.invitation.url).hash)![1];
  const joined = await run(
    page,
    `return await call("POST", "/v1/auth/invitation", { token: v0, password: v1 });`,
    decodeURIComponent(token!),
    PASSWORD,
  );
  assert.equal(joined.status, 200, JSON.stringify(joined.body));
}

Deno.test({
  name: "passkeys: one is made, signs in without a password, once per answer, and is removed",
  async fn(t) {
    const app = await new TestApp({}).start();
    const http = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => app.app.fetch(request, PUBLIC_PEER),
    );
    const browser = await launchChromium();
    try {
      const url = `http://localhost:${http.addr.port}`;
      const page = await pageWithDevice(browser, url);
      await t.step("offered at localhost, not at an IP address", async () => {
        const { body } = await run(page, `return await call("GET", "/v1/auth");`);
        assert.equal(body.passkeys, true);
        const bare = await fetch(`http://127.0.0.1:${http.addr.port}/v1/auth`);
        assert.equal((await bare.json()).passkeys, false);
      });
      await t.step("who is not signed in makes none", async () => {
        const { status } = await run(
          page,
          `return await call("POST", "/v1/auth/passkeys/options");`,
        );
        assert.equal(status, 401);
      });
      await join(app, page, "ada@example.com");
      await t.step("made once a device", async () => {
        const made = await run(page, `return await make("Ada's laptop");`);
        assert.equal(made.status, 201, JSON.stringify(made.body));
        const again = await run(page, `return await make("Again").catch((error) => error.name);`);
        assert.equal(again, "InvalidStateError");
        const { body } = await run(page, `return await call("GET", "/v1/auth/passkeys");`);
        assert.deepEqual(
          body.passkeys.map(({ name, lastUsedAt }: Told) => [name, lastUsedAt]),
          [["Ada's laptop", null]],
        );
      });
      await t.step("of what it says of its transports those that there are are kept", async () => {
        const other = await pageWithDevice(browser, url);
        await join(app, other, "cleo@example.com");
        const kept = await run(
          other,
          `const response = await made();
          response.response.transports = ["usb", "a\\0b", null, { toString: 1 }, "internal", "usb"];
          const { status, body } = await keep("Odd", response);
          const options = await call("POST", "/v1/auth/passkeys/options");
          return { status, of: options.body.excludeCredentials.find(({ id }) => id === body.id) };`,
        );
        assert.equal(kept.status, 201);
        assert.deepEqual(kept.of.transports, ["internal", "usb"]);
      });
      let used: unknown;
      await t.step("opens the account without a password", async () => {
        const told = await run(
          page,
          `await call("POST", "/v1/auth/sign-out");
          const out = await call("GET", "/v1/auth/sessions");
          const response = await answer();
          return { out, response, entered: await enter(response),
            passkeys: await call("GET", "/v1/auth/passkeys") };`,
        );
        assert.equal(told.out.status, 401);
        assert.equal(told.entered.status, 200, JSON.stringify(told.entered.body));
        assert.equal(told.entered.body.person.email, "ada@example.com");
        assert.notEqual(told.passkeys.body.passkeys[0].lastUsedAt, null);
        used = told.response;
      });
      await t.step("an answer opens nothing twice, and none that was changed", async () => {
        const again = await run(page, `return await enter(v0);`, used);
        assert.deepEqual([again.status, again.body.code], [401, "passkey_refused"]);
        const changed = await run(
          page,
          `const given = await answer();
          const flip = (text) => (text[9] === "A" ? "B" : "A") ;
          const signature = given.response.signature;
          given.response.signature = signature.slice(0, 9) + flip(signature) + signature.slice(10);
          return await enter(given);`,
        );
        assert.deepEqual([changed.status, changed.body.code], [401, "passkey_refused"]);
        for (const nonsense of [{ id: "x" }, { id: "x", response: [] }, { id: used }]) {
          const { status } = await run(page, `return await enter(v0);`, nonsense);
          assert.ok(status === 400 || status === 401, String(status));
        }
      });
      await t.step("somebody else's device opens somebody else's account", async () => {
        const other = await pageWithDevice(browser, url);
        await join(app, other, "bob@example.com");
        const made = await run(other, `return await make("Bob's phone");`);
        const gone = await run(
          page,
          `return await call("DELETE", "/v1/auth/passkeys/" + v0);`,
          made.body.id,
        );
        assert.equal(gone.status, 404, "one's own passkeys alone");
        const entered = await run(other, `return await enter(await answer());`);
        assert.equal(entered.body.person.email, "bob@example.com");
      });
      await t.step("removed, it opens nothing", async () => {
        const told = await run(
          page,
          `const { body } = await call("GET", "/v1/auth/passkeys");
          const response = await answer();
          const removed = await call("DELETE", "/v1/auth/passkeys/" + body.passkeys[0].id);
          return { removed: removed.status, entered: (await enter(response)).status };`,
        );
        assert.deepEqual(told, { removed: 204, entered: 401 });
      });
      const audit = await app.admin("GET", "/v1/audit");
      const names = audit.body.rows.map(({ what }: Told) => what);
      assert.ok(names.includes("passkey.add") && names.includes("passkey.remove"), String(names));
    } finally {
      await browser.close();
      await http.shutdown();
      await app.stop();
    }
  },
});
