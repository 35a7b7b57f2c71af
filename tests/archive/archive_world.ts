import assert from "node:assert/strict";
import { runFootfall } from "../../src/cli/cli.ts";
import { openDatabase } from "../../src/db/open.ts";
import type { Database } from "../../src/db/sql.ts";
import { CapturedTerminal } from "../cli/captured_terminal.ts";
import { TestApp } from "../support/app.ts";
import { makeDataDir } from "../support/embedded_template.ts";

export type Env = Record<string, string>;

export interface Said {
  readonly code: number;
  // Tests look into results of every shape.
  // deno-lint-ignore no-explicit-any
  readonly result: any;
  readonly errors: string;
}

/** Runs a command in this process, where no server has the database. */
export async function cli(env: Env, ...args: string[]): Promise<Said> {
  const terminal = new CapturedTerminal();
  const code = await runFootfall([...args, "--json"], env, terminal);
  const { written, errors } = terminal;
  return { code, result: written === "" ? null : JSON.parse(written), errors };
}

/** The same of a command that must succeed. */
export async function done(env: Env, ...args: string[]): Promise<Said["result"]> {
  const { code, result, errors } = await cli(env, ...args);
  assert.equal(code, 0, `${args.join(" ")}: ${errors}${JSON.stringify(result)}`);
  return result;
}

/** A server in this process, for as long as `work` takes. */
export async function withApp<T>(env: Env, work: (app: TestApp) => Promise<T>): Promise<T> {
  const app = await new TestApp(env).start();
  try {
    return await work(app);
  } finally {
    await app.stop();
  }
}

/** The database of an environment, for as long as `work` takes. */
export async function withDatabase<T>(env: Env, work: (sql: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase({
    databaseUrl: env.DATABASE_URL ?? null,
    dataDir: env.DATA_DIR!,
    statementTimeoutMs: 15_000,
    connectionsMax: 4,
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** An empty embedded database, for as long as `work` takes. */
export async function withEmbedded<T>(work: (env: Env) => Promise<T>): Promise<T> {
  const dataDir = await makeDataDir("footfall-archive-");
  try {
    return await work({ DATA_DIR: dataDir });
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

/** A path for an archive that is removed with its folder. */
export async function withFile<T>(work: (path: string) => Promise<T>): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "footfall-archive-" });
  try {
    return await work(`${folder}/all.footfall`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
