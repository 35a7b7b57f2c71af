import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { openPostgres } from "../../src/db/postgres.ts";
import { SCHEMA_KEY } from "./embedded_template.ts";
import { copyFolder, copyTemplate, type Owner } from "./folder_template.ts";

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

export interface ClusterOptions {
  /** The folder in which its own is made. Default: where temporary files go. */
  readonly parent?: string;
  /**
   * False: the system writes to the disk when it likes. What a commit promises then holds for ends of
   * processes, not of the machine. Default: true.
   */
  readonly fsync?: boolean;
}

const START_MS_MAX = 20_000;
const START_LOOK_MS = 20;
/** The database of a new cluster that has the program's schema, for `freshDatabase`. */
const SCHEMA_DATABASE = "footfall_schema";

let found: string | null | undefined;

/** The folder of the newest PostgreSQL server's programs, or null where none is installed. */
export function findPostgresBinaries(): string | null {
  return found ??= seekBinaries();
}

function seekBinaries(): string | null {
  const fromPath = (Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== "");
  const has = (folder: string) => isFile(join(folder, "initdb"));
  const found = [...fromPath, ...versionedFolders()].find(has) ?? configuredFolder().find(has);
  // PATH may hold links to some of the programs only.
  return found === undefined ? null : dirname(Deno.realPathSync(join(found, "initdb")));
}

/**
 * Starts a new cluster in a folder of its own. It is a copy of one that is made once for each version
 * of PostgreSQL and of the schema: 0.2 s instead of 2.
 */
export async function startPostgres(options: ClusterOptions = {}): Promise<ThrowawayPostgres> {
  try {
    return await startCluster(options);
  } catch {
    // As a rule another has taken the port meanwhile; there is a new one.
    return await startCluster(options);
  }
}

/** Starts a replica of the cluster that follows it. Remove it before the cluster. */
export async function startReplica(primary: ThrowawayPostgres): Promise<ThrowawayPostgres> {
  const replica = await newCluster(undefined, false);
  try {
    await replica.copy(primary);
    await replica.start();
  } catch (error) {
    await replica.remove();
    throw error;
  }
  return replica;
}

async function startCluster({ parent, fsync = true }: ClusterOptions): Promise<ThrowawayPostgres> {
  const cluster = await newCluster(parent, fsync);
  try {
    const key = `${SCHEMA_KEY}-${await versionOf(cluster.binaries)}`;
    await copyTemplate("postgres", key, cluster.dataDir, fillTemplate, cluster.user);
    await cluster.start();
  } catch (error) {
    await cluster.remove();
    throw error;
  }
  return cluster;
}

async function newCluster(parent: string | undefined, fsync: boolean): Promise<Cluster> {
  const binaries = findPostgresBinaries();
  if (binaries === null) {
    throw new Error("No PostgreSQL server is installed: put initdb and postgres on PATH");
  }
  const folder = await Deno.makeTempDir({
    prefix: "footfall-postgres-",
    ...(parent === undefined ? {} : { dir: parent }),
  });
  const user = await owner();
  if (user.uid !== undefined) await Deno.chown(folder, user.uid, user.gid ?? user.uid);
  return new Cluster(binaries, folder, user, await freePort(), fsync);
}

/** Puts a new cluster's data into a folder, with an empty database of the present schema. */
async function fillTemplate(folder: string): Promise<void> {
  const maker = await newCluster(undefined, false);
  try {
    await maker.initialise();
    await maker.start();
    await administer(maker, `CREATE DATABASE ${SCHEMA_DATABASE}`);
    const sql = openTests(databaseUrl(maker, SCHEMA_DATABASE));
    try {
      await migrate(sql, MIGRATIONS);
    } finally {
      await sql.close();
    }
    // Nothing is made of it, and it is a fifth of the files.
    await administer(maker, "ALTER DATABASE template0 IS_TEMPLATE false");
    await administer(maker, "DROP DATABASE template0");
    await maker.stop("fast");
    copyFolder(maker.dataDir, folder);
  } finally {
    await maker.remove();
  }
}

/** The server's version, as a part of a file's name. */
async function versionOf(binaries: string): Promise<string> {
  const { stdout } = await new Deno.Command(join(binaries, "postgres"), { args: ["--version"] })
    .output();
  return new TextDecoder().decode(stdout).trim().replace(/[^\w.]+/g, "-");
}

/** An empty database of the cluster, for one test: of the program's schema, or without any. */
export async function freshDatabase(
  cluster: ThrowawayPostgres,
  { hasSchema = false } = {},
): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  const of = hasSchema ? ` TEMPLATE ${SCHEMA_DATABASE}` : "";
  // Its files as they are, not page by page through the log: made and dropped, it takes 0.022 s of a processor, not 0.038.
  await administer(cluster, `CREATE DATABASE ${name}${of} STRATEGY file_copy`);
  return {
    url: databaseUrl(cluster, name),
    drop: () => administer(cluster, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

function databaseUrl({ url }: ThrowawayPostgres, name: string): string {
  return url.replace(/[^/]*$/, name);
}

function openTests(url: string) {
  return openPostgres(url, {
    connectionsMax: 1,
    statementTimeoutMs: 20_000,
    applicationName: "tests",
  });
}

async function administer(cluster: ThrowawayPostgres, statement: string): Promise<void> {
  const sql = openTests(cluster.url);
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
    readonly user: Owner,
    readonly port: number,
    readonly fsync: boolean,
  ) {
    this.dataDir = join(folder, "data");
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  }

  get pid(): number {
    if (this.#server === null) throw new Error("The PostgreSQL server is not running");
    return this.#server.pid;
  }

  async initialise(): Promise<void> {
    const { success, stderr } = await this.#command("initdb", [
      ...["--no-sync", "-A", "trust", "-E", "UTF8", "--locale=C", "-U", "postgres"],
      ...["-D", this.dataDir],
    ]).output();
    if (!success) throw new Error(`initdb failed: ${new TextDecoder().decode(stderr)}`);
  }

  /** Makes this the replica of a cluster that runs. */
  async copy(primary: ThrowawayPostgres): Promise<void> {
    const { success, stderr } = await this.#command("pg_basebackup", [
      ...["-d", primary.url, "-D", this.dataDir],
      ...["--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync"],
    ]).output();
    if (!success) throw new Error(`pg_basebackup failed: ${new TextDecoder().decode(stderr)}`);
  }

  async start(): Promise<void> {
    if (this.#server !== null) throw new Error("The PostgreSQL server runs already");
    this.#server = this.#command("postgres", [
      // No socket in the file system: its path may be no longer than 107 bytes.
      ...["-D", this.dataDir, "-p", String(this.port), "-c", "unix_socket_directories="],
      ...["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=50"],
      ...["-c", `fsync=${this.fsync ? "on" : "off"}`],
      // In its own folder, so that one that is killed leaves nothing in the memory of the system.
      ...["-c", "dynamic_shared_memory_type=mmap"],
    ], "null").spawn();
    const started = this.#server;
    started.status.then(() => {
      if (this.#server === started) this.#server = null;
    });
    const deadline = performance.now() + START_MS_MAX;
    // Another may have taken the port between its choice and now, and answer there.
    const isThis = `SELECT 1 / (current_setting('data_directory') = '${this.dataDir}')::int`;
    const answers = () => administer(this, isThis).then(() => true, () => false);
    while (!await answers()) {
      if (this.#server !== started) throw new Error("The PostgreSQL server ended as it started");
      if (performance.now() > deadline) throw new Error("The PostgreSQL server does not start");
      await new Promise((resolve) => setTimeout(resolve, START_LOOK_MS));
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
async function owner(): Promise<Owner> {
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
