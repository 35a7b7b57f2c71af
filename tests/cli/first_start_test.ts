import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { makeDataDir } from "../support/embedded_template.ts";
import { RUN_PROGRAM } from "../support/program.ts";
import { until } from "../support/server_process.ts";
import { run } from "./footfall_process.ts";
import { launchChromium } from "../support/chromium.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const START_MS_MAX = 60_000;
const SEEN_MS_MAX = 30_000;
/** The last lines of a first start's banner, and of a later one's. */
const LAST_LINES = /footfall seed\n|token --link\n$|Open the dashboard: \S+\n$/;

/** A server without a terminal, as under a service manager. */
class Started {
  readonly #child: Deno.ChildProcess;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #errors: Promise<string>;
  banner = "";

  constructor(dataDir: string, env: Record<string, string>) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [...RUN_PROGRAM, "main.ts", "serve"],
      cwd: ROOT,
      env: {
        DATA_DIR: dataDir,
        PORT: "0",
        HOST: "127.0.0.1",
        npm_lifecycle_event: "",
        DEFAULT_API_KEY: "",
        ...env,
      },
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#timer = setTimeout(() => this.#child.kill("SIGKILL"), START_MS_MAX);
    this.#errors = new Response(this.#child.stderr).text();
  }

  /** Reads until the banner is there. */
  async ready(): Promise<this> {
    const reader = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    while (!LAST_LINES.test(this.banner)) {
      const { value, done } = await reader.read();
      if (done) break;
      this.banner += value;
    }
    await reader.cancel();
    clearTimeout(this.#timer);
    return this;
  }

  /** Stops the server. @returns its log */
  async stop(): Promise<string> {
    clearTimeout(this.#timer);
    this.#child.kill("SIGTERM");
    await this.#child.status;
    return await this.#errors;
  }
}

async function start(dataDir: string, env: Record<string, string> = {}): Promise<Started> {
  return await new Started(dataDir, env).ready();
}

/** The part of `text` that the expression's first group takes. */
function taken(text: string, expression: RegExp): string {
  const [, found] = expression.exec(text) ?? [];
  assert.ok(found !== undefined, `${expression} in:\n${text}`);
  return found;
}

/** Runs a printed line in a shell that knows nothing of the server's settings, and returns its output. */
async function pasted(line: string): Promise<string> {
  const { stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", line],
    cwd: ROOT,
    env: { DATA_DIR: "", PATH: `${Deno.env.get("PATH")}` },
  }).output();
  const decoder = new TextDecoder();
  return decoder.decode(stdout) || decoder.decode(stderr);
}

/** Opens the link as a newcomer does, and waits for their event. */
async function seesOnePageView(link: string): Promise<void> {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(link, { waitUntil: "load" });
    const check = `[...document.querySelectorAll(".tile-face")]
      .some((tile) => /Page views\\s*1\\b/.test(tile.innerText))`;
    await until(SEEN_MS_MAX, async () => Boolean(await page.evaluate(check)), "the event is seen");
  } finally {
    await browser.close();
  }
}

const SETUP_LINK = /^ {2}(http:\/\/127\.0\.0\.1:\d+\/)#setup=([\w-]{43})$/m;

/** Makes the owner with the printed link, as its page does. @returns the status, and the code of a problem */
async function makeOwner(banner: string): Promise<[number, string | undefined]> {
  const [, page, setupToken] = SETUP_LINK.exec(banner) ?? [];
  assert.ok(page, banner);
  const reply = await fetch(`${page}v1/auth/owner`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      setupToken,
      email: "ada@example.com",
      name: "Ada",
      password: "three small green boats",
    }),
  });
  return [reply.status, (await reply.json()).code];
}

Deno.test("first start: commands before it leave its key to it, and no command makes a second project", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-first-" });
  const env = { DEFAULT_PROJECT_ID: "prj_mine" };
  const projects = async (env: Record<string, string>) => {
    const { out } = await run(dataDir, ["project", "list", "--json"], undefined, env);
    return JSON.parse(out).projects.map(({ id }: { id: string }) => id);
  };
  try {
    assert.deepEqual(await projects(env), ["prj_mine"]);
    const first = await start(dataDir, env);
    await first.stop();
    assert.match(first.banner, /X-API-Key: pk_/);
    assert.deepEqual(await projects({}), ["prj_mine"]);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("first start: the printed lines make an event that the page shows", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-first-" });
  try {
    const first = await start(dataDir, { DEFAULT_PROJECT_ID: "prj_mine" });
    let log = "";
    try {
      assert.match(first.banner, SETUP_LINK);
      const curl = taken(first.banner, /(curl \S+\/v1\/events -H[^$]*?-d '.*')/);
      const sent = JSON.parse(await pasted(`${curl} -sS`));
      assert.deepEqual(sent, { accepted: 1, duplicates: 0, rejected: [] });
      const command = taken(
        first.banner,
        /dashboard: {2}(DATA_DIR=\S+ deno task footfall token --link)\n/,
      );
      const quiet = command.replace("task ", "task --quiet ");
      const link = (await pasted(quiet)).trim();
      assert.match(link, /^http:\S+$/);
      await seesOnePageView(link);

      const read = taken(first.banner, /Read it back:\n\n((?: .*\n)+)/);
      const { events } = JSON.parse(await pasted(read.replace("curl", "curl -sS")));
      assert.deepEqual(events.map(({ name, bot }: Record<string, unknown>) => [name, bot]), [
        ["page_view", false],
      ]);
      assert.deepEqual(await makeOwner(first.banner), [201, undefined]);
      assert.deepEqual(await makeOwner(first.banner), [409, "owner_exists"]);
    } finally {
      log = await first.stop();
    }
    assert.doesNotMatch(log, /eyJ|#setup=/);

    const later = await start(dataDir, { DEFAULT_PROJECT_ID: "prj_mine" });
    await later.stop();
    assert.match(later.banner, /\nOpen the dashboard: http:\S+\/\n$/);
    assert.doesNotMatch(later.banner, /curl|pk_|#setup=/);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("first start: with a key of one's own there is a link too, until there is an owner", async () => {
  const dataDir = await makeDataDir("footfall-first-");
  const env = { DEFAULT_API_KEY: "pk_one_of_my_own", npm_lifecycle_event: "npx" };
  try {
    const first = await start(dataDir, env);
    const [, , secret] = SETUP_LINK.exec(first.banner) ?? [];
    await first.stop();
    assert.match(first.banner, /X-API-Key: pk_one_of_my_own'/);
    assert.doesNotMatch(first.banner, /Your first API key/);
    assert.match(first.banner, /npx --yes deno task footfall token --link/);
    assert.match(first.banner, /npx --yes deno task --quiet footfall token/);

    // The server was killed or stopped before there was an owner, so the next start prints a new link.
    const second = await start(dataDir, env);
    const [, page, again] = SETUP_LINK.exec(second.banner) ?? [];
    assert.notEqual(again, secret);
    assert.doesNotMatch(second.banner, /curl|pk_/);
    const html = await (await fetch(page!)).text();
    assert.match(html, /<meta name="footfall-command" content="npx --yes deno task footfall">/);
    assert.deepEqual(await makeOwner(second.banner), [201, undefined]);
    await second.stop();

    const third = await start(dataDir, { ...env, PUBLIC_URL: "https://stats.example.com" });
    await third.stop();
    assert.match(third.banner, /\nOpen the dashboard: http:\S+\/\n$/);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
