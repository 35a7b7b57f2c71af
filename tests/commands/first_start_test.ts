import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const START_MS_MAX = 60_000;
const LAST_LINE = "deno task footfall seed";

/** Reads until `wanted` was printed; the rest is nobody's. */
async function readUntil(stream: ReadableStream<Uint8Array>, wanted: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) {
    text += decoder.decode(bytes, { stream: true });
    if (text.includes(wanted)) break;
  }
  return text;
}

/** The part of `text` that the expression's first group takes. */
function taken(text: string, expression: RegExp): string {
  const [, found] = expression.exec(text) ?? [];
  assert.ok(found !== undefined, `${expression} in:\n${text}`);
  return found;
}

Deno.test("first start: what the banner's lines send is what they read back, by curl too", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-first-" });
  const server = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-P=serve", "main.ts", "serve"],
    cwd: ROOT,
    env: { DATA_DIR: dataDir, PORT: "0", HOST: "127.0.0.1", DEFAULT_PROJECT_ID: "prj_mine" },
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const timer = setTimeout(() => server.kill("SIGKILL"), START_MS_MAX);
  try {
    const banner = await readUntil(server.stdout, LAST_LINE);
    const agent = { "User-Agent": "curl/8.0" };
    const sent = await fetch(taken(banner, /curl (http\S+) -H 'X-API-Key/), {
      method: "POST",
      body: taken(banner, /-d '(.*)'/),
      headers: {
        ...agent,
        "X-API-Key": taken(banner, /X-API-Key: (pk_\w+)'/),
        "Content-Type": "application/json",
      },
    });
    assert.deepEqual(await sent.json(), { accepted: 1, duplicates: 0, rejected: [] });
    const read = await fetch(taken(banner, /curl '(http\S+)' -H 'Authorization/), {
      headers: { ...agent, "Authorization": taken(banner, /Authorization: (Bearer \S+)'/) },
    });
    const { events } = await read.json();
    assert.deepEqual(events.map(({ name, bot }: { name: string; bot: boolean }) => [name, bot]), [
      ["page_view", true],
    ]);

    // The link's token stays behind the hash, and signs in with everything that the page can do.
    const page = taken(banner, /(http\S+)#token=/);
    const html = await (await fetch(page)).text();
    assert.ok(html.includes('<div id="app">'), html);
    const token = taken(banner, /#token=(\S+)/);
    const session = await fetch(new URL("v1/session", page), {
      headers: { "Authorization": `Bearer ${token}` },
    });
    const { scopes, projects } = await session.json();
    assert.deepEqual(scopes, ["read", "write", "jobs", "admin"]);
    assert.deepEqual(projects.map(({ id }: { id: string }) => id), ["prj_mine"]);
  } finally {
    clearTimeout(timer);
    server.kill("SIGTERM");
    await server.status;
    await Deno.remove(dataDir, { recursive: true });
  }
});
