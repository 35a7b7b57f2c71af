import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { openPostgres } from "../../src/db/postgres.ts";

/** A real PostgreSQL server of its own, on loopback, in a temporary folder, with fsync on. */
export interface ThrowawayPostgres {
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  /** The postmaster while it runs. */
  readonly pid: number;
  start(): Promise<void>;
  stop(mode: "fast" | "immediate"): Promise<void>;
  /** SIGKILL to the postmaster and every process that it started. */
  kill(): Promise<void>;
  /** Ends whatever runs and deletes the folder. Never throws for a server that is down already. */
  remove(): Promise<void>;
}

const START_MS_MAX = 20_000;

/** The folder of the newest PostgreSQL server's programs, or null where none is installed. */
export function findPostgresBinaries(): string | null {
  const fromPath = (Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== "");
  const candidates = [...fromPath, ...versionedFolders(), ...configuredFolder()];
  const found = candidates.find((folder) => isFile(join(folder, "initdb")));
  // PATH may hold links to some of the programs only.
  return found === undefined ? null : dirname(Deno.realPathSync(join(found, "initdb")));
}

/** Makes a cluster (about 2 s) in a folder of its own, in `parent` if that is given, and starts it. */
export async function startPostgres(parent?: string): Promise<ThrowawayPostgres> {
  const binaries = findPostgresBinaries();
  if (binaries === null) {
    throw new Error("No PostgreSQL server is installed: put initdb and postgres on PATH");
  }
  const folder = await Deno.makeTempDir({
    prefix: "footfall-postgres-",
    ...(parent === undefined ? {} : { dir: parent }),
  });
  const cluster = new Cluster(binaries, folder, await owner(), await freePort());
  try {
    await cluster.initialise();
    await cluster.start();
  } catch (error) {
    await cluster.remove();
    throw error;
  }
  return cluster;
}

/** An empty database of the cluster, for one test. */
export async function freshDatabase(
  cluster: ThrowawayPostgres,
): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  await administer(cluster, `CREATE DATABASE ${name}`);
  return {
    url: cluster.url.replace(/[^/]*$/, name),
    drop: () => administer(cluster, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function administer(cluster: ThrowawayPostgres, statement: string): Promise<void> {
  const sql = openPostgres(cluster.url, {
    connectionsMax: 1,
    statementTimeoutMs: 20_000,
    applicationName: "tests",
  });
  try {
    await sql.query(statement);
  } finally {
    await sql.close();
  }
}

class Cluster implements ThrowawayPostgres {
  readonly dataDir: string;
  readonly url: string;
  #server: Deno.ChildProcess | null = null;

  constructor(
    readonly binaries: string,
    readonly folder: string,
    readonly user: { uid?: number; gid?: number },
    readonly port: number,
  ) {
    this.dataDir = join(folder, "data");
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  }

  get pid(): number {
    if (this.#server === null) throw new Error("The PostgreSQL server is not running");
    return this.#server.pid;
  }

  async initialise(): Promise<void> {
    if (this.user.uid !== undefined) {
      await Deno.chown(this.folder, this.user.uid, this.user.gid ?? this.user.uid);
    }
    const { success, stderr } = await this.#command("initdb", [
      ...["--no-sync", "-A", "trust", "-E", "UTF8", "--locale=C", "-U", "postgres"],
      ...["-D", this.dataDir],
    ]).output();
    if (!success) throw new Error(`initdb failed: ${new TextDecoder().decode(stderr)}`);
  }

  async start(): Promise<void> {
    if (this.#server !== null) throw new Error("The PostgreSQL server runs already");
    this.#server = this.#command("postgres", [
      ...["-D", this.dataDir, "-p", String(this.port), "-k", this.folder],
      ...["-c", "listen_addresses=127.0.0.1", "-c", "fsync=on", "-c", "max_connections=50"],
    ], "null").spawn();
    const started = this.#server;
    started.status.then(() => {
      if (this.#server === started) this.#server = null;
    });
    const deadline = performance.now() + START_MS_MAX;
    const answers = () => administer(this, "SELECT 1").then(() => true, () => false);
    while (!await answers()) {
      if (performance.now() > deadline) throw new Error("The PostgreSQL server does not start");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async stop(mode: "fast" | "immediate"): Promise<void> {
    await this.#end(() => Deno.kill(this.pid, mode === "fast" ? "SIGINT" : "SIGQUIT"));
  }

  async kill(): Promise<void> {
    await this.#end(() => {
      // Stopped first, so that it neither starts nor mourns a child in between.
      Deno.kill(this.pid, "SIGSTOP");
      for (const pid of [...childrenOf(this.pid), this.pid]) Deno.kill(pid, "SIGKILL");
    });
  }

  async remove(): Promise<void> {
    if (this.#server !== null) await this.kill();
    await Deno.remove(this.folder, { recursive: true });
  }

  async #end(signal: () => void): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    signal();
    await server.status;
    this.#server = null;
  }

  #command(program: string, args: string[], output: "piped" | "null" = "piped"): Deno.Command {
    return new Deno.Command(join(this.binaries, program), {
      args,
      ...this.user,
      cwd: this.folder,
      stdin: "null",
      stdout: output,
      stderr: output,
    });
  }
}

/** PostgreSQL refuses to run as root: root takes the account that its package has made. */
async function owner(): Promise<{ uid?: number; gid?: number }> {
  if (Deno.uid() !== 0) return {};
  const passwd = await Deno.readTextFile("/etc/passwd");
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(passwd) ?? [];
  if (uid === undefined || gid === undefined) {
    throw new Error("PostgreSQL does not run as root, and there is no user `postgres`");
  }
  return { uid: Number(uid), gid: Number(gid) };
}

function childrenOf(pid: number): number[] {
  const children: number[] = [];
  for (const entry of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(entry.name)) continue;
    try {
      const status = Deno.readTextFileSync(`/proc/${entry.name}/status`);
      if (new RegExp(`^PPid:\\s+${pid}$`, "m").test(status)) children.push(Number(entry.name));
    } catch {
      // It has ended meanwhile.
    }
  }
  return children;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        address !== null && typeof address === "object"
          ? resolve(address.port)
          : reject(new Error("No free port"))
      );
    });
  });
}

function versionedFolders(): string[] {
  try {
    return [...Deno.readDirSync("/usr/lib/postgresql")]
      .map((entry) => entry.name)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join("/usr/lib/postgresql", version, "bin"));
  } catch {
    return [];
  }
}

function configuredFolder(): string[] {
  try {
    const { success, stdout } = new Deno.Command("pg_config", { args: ["--bindir"] }).outputSync();
    return success ? [new TextDecoder().decode(stdout).trim()] : [];
  } catch {
    return [];
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
