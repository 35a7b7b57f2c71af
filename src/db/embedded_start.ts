import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import clusterFiles from "@electric-sql/pglite/pglite.data" with { type: "bytes" };
import initdbWasm from "@electric-sql/pglite/initdb.wasm" with { type: "bytes" };
import postgresWasm from "@electric-sql/pglite/pglite.wasm" with { type: "bytes" };
import { unpackCluster } from "./cluster_template.ts";
import { EngineFolder, syncEntry, syncTree } from "./embedded_folder.ts";
import { SESSION_SETTINGS, VALUE_PARSERS } from "./row_values.ts";

/** PGlite's own limits of the engine's memory, in pages of 64 KiB. */
const MEMORY = { initial: 2_048, maximum: 32_768, shared: true };
/**
 * PostgreSQL's own cache. The engine clears all of it at its start, so that the default of 128 MB would be
 * resident from then on. A page that is not in it comes from the system's cache in microseconds.
 */
const SHARED_BUFFERS = "32MB";
/** The bytes of the module's import of its memory before its flags: names, and kind. */
const MEMORY_IMPORT = new TextEncoder().encode("\x03env\x06memory\x02");
const FLAGS_OF_SHARED_MEMORY = 3;

/**
 * Opens the cluster's folder. A missing cluster is made, from the template or by PGlite, in another folder, since its
 * files are written without a sync: an interrupted first start leaves no half-made database.
 * @returns null: PGlite has made it, which takes 500 MB of memory that the thread never frees, so another thread must
 * start the engine
 */
export async function openFolder(
  folder: string,
  fence: Int32Array,
  template: string | null,
): Promise<EngineFolder | null> {
  if (!existsSync(join(folder, "PG_VERSION"))) {
    const unfinished = `${folder}.new`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { recursive: true, mode: 0o700 });
    const isUnpacked = template !== null && unpackCluster(template, unfinished);
    if (!isUnpacked) await makeCluster(unfinished);
    await syncTree(unfinished);
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
    await syncEntry(folder);
    if (!isUnpacked) return null;
  }
  return new EngineFolder(folder, new WebAssembly.Memory(MEMORY), fence);
}

async function makeCluster(folder: string): Promise<void> {
  const made = await PGlite.create({
    ...parts(new WebAssembly.Module(postgresWasm)),
    dataDir: folder,
    initDbStartParams: ["-c", `shared_buffers=${SHARED_BUFFERS}`],
    startParams: [...PGlite.defaultStartParams, "-c", `shared_buffers=${SHARED_BUFFERS}`],
  });
  await made.close();
}

/**
 * Makes the decoders of this thread keep a byte order mark (U+FEFF) that a text begins with. PGlite decodes
 * each value with a default one, which drops it: two ids, names or titles would then read alike.
 */
function keepByteOrderMarks(): void {
  const Default = globalThis.TextDecoder;
  globalThis.TextDecoder = class extends Default {
    constructor(label?: string, options?: TextDecoderOptions) {
      super(label, { ignoreBOM: true, ...options });
    }
  };
}

/**
 * PGlite without the statement by which each start would read the types of all arrays, for parsers that would replace
 * `VALUE_PARSERS`: 50 ms of the processor, of the 220 to 270 that the engine's start takes.
 */
class Engine extends PGlite {
  override async _initArrayTypes(): Promise<void> {}
}

/**
 * Starts PGlite (PostgreSQL as WebAssembly) on `folder`, with durable writes, in memory that other threads can
 * access. It must be the only engine of its thread.
 */
export async function startEngine(
  folder: EngineFolder,
  statementTimeoutMs: number,
): Promise<PGlite> {
  keepByteOrderMarks();
  const asSent = (value: string) => value;
  const compiled = parts(compileEngine());
  // The engine keeps its own copy; this one, of 9 MB, is freed at once.
  postgresWasm.buffer.transfer(0);
  const engine = new Engine({
    ...compiled,
    fs: folder,
    parsers: Object.fromEntries(VALUE_PARSERS),
    serializers: Object.fromEntries([...VALUE_PARSERS.keys()].map((oid) => [oid, asSent])),
    startParams: [
      ...PGlite.defaultStartParams.filter((parameter) => parameter !== "-F"),
      // The file system has fsync, but no fdatasync.
      ...["-c", "fsync=on", "-c", "wal_sync_method=fsync"],
      ...["-c", `shared_buffers=${SHARED_BUFFERS}`],
      ...["-c", `statement_timeout=${statementTimeoutMs}`],
      ...Object.entries(SESSION_SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
      // Bounds how many log files are kept for reuse.
      ...["-c", "min_wal_size=32MB", "-c", "max_wal_size=64MB"],
      // Compresses whole pages in the log, which takes 0.92 of the bytes under sustained load.
      ...["-c", "wal_compression=on"],
    ],
  });
  await engine.waitReady;
  return engine;
}

/**
 * Compiles the engine's module for `startEngine`. A process compiles equal modules only once while one of them is
 * kept, so keeping this one saves every later engine the work. The imported bytes themselves are changed: a thread has
 * them alone, as each imports its own.
 */
export function compileEngine(): WebAssembly.Module {
  shareMemory(postgresWasm);
  return new WebAssembly.Module(postgresWasm);
}

function parts(pgliteWasmModule: WebAssembly.Module) {
  return {
    pgliteWasmModule,
    initdbWasmModule: new WebAssembly.Module(initdbWasm),
    // The only member of Blob that PGlite uses; a real Blob would make two more copies of 6 MB.
    fsBundle: { arrayBuffer: () => Promise.resolve(clusterFiles.buffer) } as Blob,
  };
}

/** Changes the module to import shared memory; its code is the same for both kinds. */
function shareMemory(wasm: Uint8Array<ArrayBuffer>): void {
  const at = wasm.subarray(0, 100_000).findIndex((_, start) =>
    MEMORY_IMPORT.every((byte, i) => wasm[start + i] === byte)
  );
  if (at < 0) throw new Error("the engine's module does not import its memory");
  wasm[at + MEMORY_IMPORT.length] = FLAGS_OF_SHARED_MEMORY;
}
