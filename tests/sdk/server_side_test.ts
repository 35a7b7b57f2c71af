import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { TestApp } from "../support/app.ts";

const MODULE = new URL("../../dist/sdk/sdk.mjs", import.meta.url);
const RUN_MS_MAX = 30_000;
const IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 " +
  "(KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1";

/** What a backend may have for the sake of what it renders. */
const STUBS = {
  "": "",
  " with a stub of the document": `
    Object.defineProperty(globalThis, "localStorage", { value: {} });
    globalThis.document = {};
  `,
};

const program = (apiKey: string, endpoint: string, stub: string) => `
  import { createAnalytics } from ${JSON.stringify(MODULE.href)};
  ${stub}
  const analytics = createAnalytics(${JSON.stringify({ apiKey, endpoint, autocapture: true })});
  analytics.identify("of all visitors");
  analytics.track("order_paid", { total: 42 }, {
    userId: "user-7",
    url: "https://shop.example/checkout?utm_source=letter",
    context: { ip: "8.8.8.8", userAgent: ${JSON.stringify(IPHONE)} },
  });
  analytics.track("nightly_job");
  analytics.page();
  await analytics.flush();
`;

const RUNTIMES = {
  Deno: [Deno.execPath(), "eval", "--ext=js"],
  "Node.js": ["node", "--input-type=module", "--eval"],
} as const;

/** What the program says, which shall be nothing. */
async function saidBy(runtime: keyof typeof RUNTIMES, source: string): Promise<string> {
  const [command, ...args] = RUNTIMES[runtime];
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args: [...args, source],
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    env: { NO_COLOR: "1" },
    signal: AbortSignal.timeout(RUN_MS_MAX),
  }).output();
  const said = new TextDecoder().decode(new Uint8Array([...stdout, ...stderr]));
  assert.equal(code, 0, said);
  return said;
}

// deno-lint-ignore no-explicit-any -- read as a client would
function assertSpokenFor(events: readonly any[]): void {
  assert.deepEqual(
    events.map(({ name }) => name).toSorted(),
    ["nightly_job", "order_paid", "page_view"],
  );
  const paid = events.find(({ name }) => name === "order_paid");
  assert.equal(paid.userId, "user-7");
  assert.equal(paid.anonymousId, null);
  assert.equal(paid.path, "/checkout");
  assert.equal(paid.properties.total, 42);
  assert.equal(paid.properties.server.ip, "8.8.8.8");
  assert.equal(paid.device, "mobile");
  const job = events.find(({ name }) => name === "nightly_job");
  assert.equal(job.userId, null, "identify() means nobody on a server");
}

for (const runtime of ["Deno", "Node.js"] as const) {
  for (const [its, stub] of Object.entries(STUBS)) {
    Deno.test(`${runtime}${its}: a backend speaks for its visitors with a secret key`, async () => {
      const server = await new TestApp({}).start();
      await using http = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen: () => {} },
        (request) => server.app.fetch(request, "127.0.0.1"),
      );
      try {
        const project = await server.project();
        const source = program(project.secretKey, `http://127.0.0.1:${http.addr.port}`, stub);
        assert.equal(await saidBy(runtime, source), "", "it is silent");
        assertSpokenFor(await server.stored(project));
      } finally {
        await server.stop();
      }
    });
  }

  Deno.test(`${runtime}: without a key or a whole address nothing happens, also with a stub`, async () => {
    const said = await saidBy(
      runtime,
      `${STUBS[" with a stub of the document"]}
      const { createAnalytics } = await import(${JSON.stringify(MODULE.href)});
      for (const apiKey of [undefined, "pk_any"]) {
        const analytics = createAnalytics({ apiKey, endpoint: "/analytics", autocapture: true });
        analytics.track("rendered");
        analytics.identify("user-7");
        analytics.page();
        await analytics.flush();
        analytics.reset();
      }
    `,
    );
    assert.equal(said, "");
  });
}
