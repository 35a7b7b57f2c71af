import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import clusterFiles from "@electric-sql/pglite/pglite.data" with { type: "bytes" };
import initdbWasm from "@electric-sql/pglite/initdb.wasm" with { type: "bytes" };
import postgresWasm from "@electric-sql/pglite/pglite.wasm" with { type: "bytes" };
import { EngineFolder, syncEntry, syncTree } from "./embedded_folder.ts";
import { SESSION_SETTINGS, VALUE_PARSERS } from "./row_values.ts";

/** PGlite's own bounds of the engine's memory, in pages of 64 KiB. */
const MEMORY = { initial: 2_048, maximum: 32_768, shared: true };
/** The module's import of its memory: names, kind, and the flags of memory that is not shared. */
const MEMORY_IMPORT = new TextEncoder().encode("\x03env\x06memory\x02\x01");
const FLAGS_OF_SHARED_MEMORY = 3;

/**
 * The folder of the cluster, which is made where there is none. A first start that is interrupted
 * leaves a half-made folder beside, never a half-made database: PGlite copies a fresh cluster file by
 * file, without a sync.
 */
export async function openFolder(folder: string, fence: Int32Array): Promise<EngineFolder> {
  if (!existsSync(join(folder, "PG_VERSION"))) {
    const unfinished = `${folder}.new`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { recursive: true, mode: 0o700 });
    await (await PGlite.create({ ...parts(postgresWasm), dataDir: unfinished })).close();
    syncTree(unfinished);
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
    syncEntry(folder);
  }
  return new EngineFolder(folder, new WebAssembly.Memory(MEMORY), fence);
}

/** Starts PGlite (PostgreSQL as WebAssembly) on `folder`, durable, in memory that other threads reach. */
export async function startEngine(
  folder: EngineFolder,
  statementTimeoutMs: number,
): Promise<PGlite> {
  const asSent = (value: string) => value;
  const pglite = await PGlite.create({
    ...parts(withSharedMemory(postgresWasm)),
    fs: folder,
    parsers: Object.fromEntries(VALUE_PARSERS),
    serializers: Object.fromEntries([...VALUE_PARSERS.keys()].map((oid) => [oid, asSent])),
    startParams: [
      ...PGlite.defaultStartParams.filter((parameter) => parameter !== "-F"),
      // The file system knows fsync alone, not fdatasync.
      ...["-c", "fsync=on", "-c", "wal_sync_method=fsync"],
      ...["-c", `statement_timeout=${statementTimeoutMs}`],
      // How many files of the log are kept to be used again.
      ...["-c", "min_wal_size=32MB", "-c", "max_wal_size=64MB"],
    ],
  });
  for (const [name, value] of Object.entries(SESSION_SETTINGS)) {
    await pglite.query("SELECT set_config($1::text, $2::text, false)", [name, value]);
  }
  return pglite;
}

function parts(wasm: BufferSource) {
  return {
    pgliteWasmModule: new WebAssembly.Module(wasm),
    initdbWasmModule: new WebAssembly.Module(initdbWasm),
    fsBundle: new Blob([clusterFiles]),
  };
}

/** The same module, declared to import shared memory; its code is the same for both kinds. */
function withSharedMemory(wasm: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const at = wasm.subarray(0, 100_000).findIndex((_, start) =>
    MEMORY_IMPORT.every((byte, i) => wasm[start + i] === byte)
  );
  if (at < 0) throw new Error("the engine's module does not import its memory");
  const shared = wasm.slice();
  shared[at + MEMORY_IMPORT.length - 1] = FLAGS_OF_SHARED_MEMORY;
  return shared;
}
