/// <reference lib="deno.worker" />
/**
 * The embedded engine's own thread: PGlite (PostgreSQL as WebAssembly) on a folder, made durable.
 *
 * PGlite ships with fsync off, its file system has no fsync, and it copies a fresh cluster file by
 * file into the folder. All three are put right here.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import clusterFiles from "@electric-sql/pglite/pglite.data" with { type: "bytes" };
import initdbWasm from "@electric-sql/pglite/initdb.wasm" with { type: "bytes" };
import postgresWasm from "@electric-sql/pglite/pglite.wasm" with { type: "bytes" };
import { SESSION_SETTINGS, VALUE_PARSERS } from "./row_values.ts";

/** What the main thread sends. `params` are text or null. */
export type WorkerRequest =
  | { readonly id: number; readonly kind: "open"; readonly folder: string }
  | {
    readonly id: number;
    readonly kind: "query";
    readonly text: string;
    readonly params: readonly (string | null)[];
  }
  | { readonly id: number; readonly kind: "script"; readonly text: string }
  | { readonly id: number; readonly kind: "diagnostics" | "close" };

/** What it gets back. `sqlState` is null where not PostgreSQL but the engine around it failed. */
export type WorkerReply =
  | { readonly id: number; readonly rows: readonly unknown[] }
  | { readonly id: number; readonly failure: string; readonly sqlState: string | null };

/** The parts of Emscripten's file system that are used here. */
interface MountedFileSystem {
  lookupPath(path: string): {
    node: {
      mount: { type: { stream_ops: { fsync?: (stream: { nfd: number }) => number } } };
    };
  };
  ErrnoError: new (errno: number) => Error;
}

const EMSCRIPTEN_EIO = 29;

let database: PGlite | null = null;
let fsyncCount = 0;
let fsyncFailure: string | null = null;
let queue: Promise<void> = Promise.resolve();

// Set before the first await: a message that arrives earlier would be lost.
self.onmessage = (event: MessageEvent<WorkerRequest>) => {
  const request = event.data;
  queue = queue.then(async () => self.postMessage(await reply(request)));
};

async function reply(request: WorkerRequest): Promise<WorkerReply> {
  try {
    const rows = await perform(request);
    if (fsyncFailure !== null) throw new Error(`the disk failed: ${fsyncFailure}`);
    return { id: request.id, rows };
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    return { id: request.id, failure, sqlState: fsyncFailure === null ? sqlStateOf(error) : null };
  }
}

async function perform(request: WorkerRequest): Promise<readonly unknown[]> {
  if (request.kind === "open") {
    await open(request.folder);
    return [];
  }
  if (request.kind === "diagnostics") return [{ fsyncCount }];
  if (database === null) throw new Error("the database is not open");
  switch (request.kind) {
    case "query":
      return (await database.query(request.text, [...request.params])).rows;
    case "script":
      await database.exec(request.text);
      return [];
    case "close":
      await database.close();
      database = null;
      return [];
  }
}

function sqlStateOf(error: unknown): string | null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** A first start that is interrupted leaves a half-made folder beside, never a half-made database. */
async function open(folder: string): Promise<void> {
  if (!existsSync(join(folder, "PG_VERSION"))) {
    const unfinished = `${folder}.new`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { recursive: true, mode: 0o700 });
    await (await start(unfinished)).close();
    syncTree(unfinished);
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
    syncPath(dirname(folder));
  }
  database = await start(folder);
  for (const [name, value] of Object.entries(SESSION_SETTINGS)) {
    await database.query("SELECT set_config($1::text, $2::text, false)", [name, value]);
  }
}

async function start(folder: string): Promise<PGlite> {
  const asSent = (value: string) => value;
  const pglite = await PGlite.create({
    dataDir: folder,
    pgliteWasmModule: new WebAssembly.Module(postgresWasm),
    initdbWasmModule: new WebAssembly.Module(initdbWasm),
    fsBundle: new Blob([clusterFiles]),
    parsers: Object.fromEntries(VALUE_PARSERS),
    serializers: Object.fromEntries([...VALUE_PARSERS.keys()].map((oid) => [oid, asSent])),
    startParams: [
      ...PGlite.defaultStartParams.filter((parameter) => parameter !== "-F"),
      // The file system knows fsync alone, not fdatasync.
      ...["-c", "fsync=on", "-c", "wal_sync_method=fsync"],
    ],
  });
  makeDurable(pglite.Module.FS as unknown as MountedFileSystem);
  return pglite;
}

/** Gives the mounted folder the fsync that it lacks. A failure is final: what was written may be gone. */
function makeDurable(fileSystem: MountedFileSystem): void {
  const folder = fileSystem.lookupPath(PGlite.paths.PGDATA).node.mount.type;
  folder.stream_ops.fsync = (stream) => {
    try {
      fsyncSync(stream.nfd);
    } catch (error) {
      fsyncFailure = error instanceof Error ? error.message : String(error);
      throw new fileSystem.ErrnoError(EMSCRIPTEN_EIO);
    }
    fsyncCount++;
    return 0;
  };
}

function syncTree(folder: string): void {
  for (const entry of Deno.readDirSync(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) syncTree(path);
    else syncPath(path);
  }
  syncPath(folder);
}

function syncPath(path: string): void {
  // Windows cannot open a folder, and needs no sync of one.
  if (Deno.build.os === "windows" && Deno.statSync(path).isDirectory) return;
  const descriptor = openSync(path, Deno.build.os === "windows" ? "r+" : "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
