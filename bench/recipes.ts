/**
 * Makes a Vite, a Next.js and a Bun project by the recipes of docs/recording.md, each in a folder of
 * its own with packages from npm, and follows events through them into the store.
 *
 * `deno task recipes [--only Vite]`: takes a few minutes, most of them npm's.
 */
import { request } from "node:http";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { PUBLIC_KEY, RecipeServer } from "./recipes/recipe_server.ts";
import { recipeTexts } from "./recipes/recipe_texts.ts";
import { type Recipe, RECIPES } from "./recipes/recipes.ts";

const WAIT_MS_MAX = 90_000;
/** Long enough for a batch to be sent, if one were. */
const SILENCE_MS = 8_000;
/** A visitor beside this machine's other programs, as a proxy on 127.0.0.1 sees it. */
const VISITOR_ADDRESS = "127.0.0.9";
const BUN_VERSION = "1.4.5";

const results: { readonly recipe: string; readonly what: string; readonly held: boolean }[] = [];

function note(recipe: string, what: string, held: boolean): void {
  results.push({ recipe, what, held });
  console.log(`${held ? "holds" : "FAILS"}  ${recipe}: ${what}`);
}

async function until(check: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (performance.now() < deadline) {
    if (await check().catch(() => false)) return true;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return false;
}

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(path, text);
  }
}

async function npmInstall(folder: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("npm", {
    args: ["install", "--no-audit", "--no-fund", "--loglevel=error"],
    cwd: folder,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** The module as the manual says: a copy of what the server serves. */
async function copyModule(server: RecipeServer, folder: string): Promise<void> {
  for (const [from, to] of [["sdk.mjs", "footfall.mjs"], ["sdk.d.ts", "footfall.d.mts"]]) {
    const reply = await fetch(`${server.url}/${from}`);
    await write(folder, { [to!]: await reply.text() });
  }
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

/** Runs the dev server while `work` is done; `key` null: its variable is missing. */
async function withDevServer(
  recipe: Recipe,
  folder: string,
  key: string | null,
  work: (url: string, port: number) => Promise<void>,
): Promise<void> {
  const port = freePort();
  const child = new Deno.Command("setsid", {
    args: ["npx", ...recipe.serve(port)],
    cwd: folder,
    env: { NEXT_TELEMETRY_DISABLED: "1", ...(key === null ? {} : { [recipe.variable]: key }) },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const url = `http://127.0.0.1:${port}`;
  try {
    const answers = await until(async () => {
      const reply = await fetch(url);
      await reply.body?.cancel();
      return reply.ok;
    });
    if (!answers) throw new Error(`the dev server of ${recipe.name} does not answer`);
    await work(url, port);
  } finally {
    // A dev server is a tree of processes: the group that setsid made of them ends as one.
    await new Deno.Command("kill", { args: ["-TERM", "--", `-${child.pid}`] }).output();
    await child.status;
  }
}

/** Sends one event through the dev server's proxy from another address. @returns the status */
function sendFrom(address: string, port: number, eventId: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sending = request({
      host: "127.0.0.1",
      port,
      localAddress: address,
      path: "/analytics/v1/events",
      method: "POST",
      headers: { "X-API-Key": PUBLIC_KEY, "Content-Type": "application/json" },
    }, (reply) => {
      reply.resume();
      resolve(reply.statusCode ?? 0);
    });
    sending.on("error", reject);
    sending.end(JSON.stringify({ events: [{ eventId, name: "from_elsewhere" }] }));
  });
}

/** What a page asked the server for, and what it complained of. */
function watch(page: Page): { readonly sent: string[]; readonly faults: string[] } {
  const sent: string[] = [];
  const faults: string[] = [];
  page.on("request", (asked) => {
    if (asked.url().includes("/v1/events")) sent.push(asked.url());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (line) => {
    if (line.type() === "error") faults.push(line.text());
  });
  return { sent, faults };
}

async function tryKey(recipe: Recipe, folder: string, server: RecipeServer, browser: Browser) {
  await withDevServer(recipe, folder, PUBLIC_KEY, async (url, port) => {
    const page = await browser.newPage();
    const seen = watch(page);
    await page.goto(`${url}/?from=${recipe.name}`);
    await page.waitForSelector("#buy");
    const stored = async (name: string) =>
      (await server.events()).find((event) => event.name === name);
    const viewed = await until(async () => await stored("page_view") !== undefined);
    note(recipe.name, "a page view in Chromium is a stored event", viewed);
    note(
      recipe.name,
      "its requests go to the page's own origin",
      seen.sent.length > 0 &&
        seen.sent.every((asked) => asked.startsWith(`${url}/analytics/`)),
    );
    note(
      recipe.name,
      `the page says no error${seen.faults.map((one) => `: ${one}`).join("")}`,
      seen.faults.length === 0,
    );
    await page.close();
    const status = await sendFrom(VISITOR_ADDRESS, port, crypto.randomUUID());
    const elsewhere = await stored("from_elsewhere");
    note(
      recipe.name,
      `through the proxy the visitor's own address is stored (${elsewhere?.properties.server.ip})`,
      status === 200 && elsewhere?.properties.server.ip === VISITOR_ADDRESS,
    );
  });
}

async function tryNoKey(recipe: Recipe, folder: string, browser: Browser): Promise<void> {
  await withDevServer(recipe, folder, null, async (url) => {
    const page = await browser.newPage();
    const seen = watch(page);
    await page.goto(url);
    await page.waitForSelector("#buy");
    await page.click("#buy");
    await new Promise((resolve) => setTimeout(resolve, SILENCE_MS));
    const silent = seen.sent.length === 0 && seen.faults.length === 0;
    note(recipe.name, "without the key nothing is sent and nothing is said", silent);
    await page.close();
  });
}

async function tryRecipe(recipe: Recipe, folder: string, browser: Browser): Promise<void> {
  const dataDir = join(folder, "footfall-data");
  const project = join(folder, "project");
  await using server = await RecipeServer.start(dataDir);
  const texts = await recipeTexts(server.origin);
  const printed = Object.entries(recipe.printed).map(([name, place]) => {
    const text = texts.get(name);
    if (text === undefined) throw new Error(`the manual prints no ${name}`);
    return [place, text] as const;
  });
  const manifest = { private: true, type: "module", dependencies: recipe.dependencies };
  await write(project, {
    "package.json": JSON.stringify(manifest),
    ...recipe.files,
    ...Object.fromEntries(printed),
  });
  await copyModule(server, join(project, recipe.moduleFolder));
  await npmInstall(project);
  await tryKey(recipe, project, server, browser);
  await tryNoKey(recipe, project, browser);
}

/** The recipe for servers, run by Bun. */
async function tryBun(folder: string): Promise<void> {
  await using server = await RecipeServer.start(join(folder, "footfall-data"));
  const project = join(folder, "project");
  const text = (await recipeTexts(server.origin)).get("order.mjs");
  if (text === undefined) throw new Error("the manual prints no order.mjs");
  const visitor = { ip: "203.0.113.9", headers: { "user-agent": "Mozilla/5.0 Firefox/140.0" } };
  await write(project, {
    "package.json": JSON.stringify({ private: true, dependencies: { bun: BUN_VERSION } }),
    "order.mjs": text,
    "main.mjs": `import { orderPaid } from "./order.mjs";
await orderPaid(${JSON.stringify(visitor)}, 42);\n`,
  });
  await copyModule(server, project);
  await npmInstall(project);
  const { key } = await server.ask<{ key: string }>(
    "POST",
    "/v1/projects/prj_default/keys",
    { kind: "secret" },
  );
  const run = (env: Record<string, string>) =>
    new Deno.Command(join(project, "node_modules/.bin/bun"), {
      args: ["main.mjs"],
      cwd: project,
      env,
    }).output();
  const silent = await run({});
  const none = (await server.events()).length === 0;
  note(
    "Bun",
    "without the key nothing is sent and nothing is said",
    silent.success && none &&
      silent.stdout.length + silent.stderr.length === 0,
  );
  const sent = await run({ FOOTFALL_SECRET_KEY: key });
  const [event] = await server.events();
  note("Bun", "an event of a server is stored", sent.success && event?.name === "order_paid");
  note(
    "Bun",
    "it has the visitor's address and user",
    event?.userId === "user-7" &&
      event.properties.server.ip === visitor.ip,
  );
}

const { values } = parseArgs({ options: { only: { type: "string" } } });
const folder = await Deno.makeTempDir({ prefix: "footfall-recipes-" });
const browser = await puppeteer.launch({
  executablePath: Deno.env.get("CHROME_PATH") || "/usr/bin/chromium",
  headless: true,
  pipe: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
const tries: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  ...Object.fromEntries(
    RECIPES.map((recipe) => [recipe.name, (at: string) => tryRecipe(recipe, at, browser)]),
  ),
  Bun: tryBun,
};
try {
  for (const [name, attempt] of Object.entries(tries)) {
    if (values.only !== undefined && values.only !== name) continue;
    await attempt(join(folder, name)).catch((error) => note(name, String(error), false));
  }
} finally {
  await browser.close();
  // A dev server may write its last files after it ended.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await Deno.remove(folder, { recursive: true });
}
const failed = results.filter(({ held }) => !held).length;
console.log(`${results.length - failed} of ${results.length} hold`);
Deno.exit(failed === 0 && results.length > 0 ? 0 : 1);
