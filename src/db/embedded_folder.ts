import { fsyncSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";
import { FENCE_CLOSED, FENCE_INSIDE } from "./embedded_fence.ts";

const EMSCRIPTEN_EIO = 29;
const EMSCRIPTEN_ENOSPC = 51;
/** The status with which PGlite's engine returns to its main loop after a statement has failed. */
const STATEMENT_FAILED = 100;
/** A file of the write-ahead log: its timeline, and its number in two parts. */
const LOG_FILE = /\/pg_wal\/[0-9A-F]{8}([0-9A-F]{8})([0-9A-F]{8})$/;
const LOG_FILE_BYTES = 2 ** 24;
const LOG_FILES_OF_A_PART = 2 ** 8;

type Operation = (...args: unknown[]) => unknown;
type Operations = Record<string, Operation>;

/** The engine's file system, with its entries and open files. */
interface FileSystem {
  readonly ErrnoError: new (errno: number) => Error;
  lookupNode(parent: unknown, name: unknown): unknown;
  destroyNode(node: unknown): void;
  closeStream(fd: number): void;
}

/** The parts of the engine's own module that are used here. */
interface EngineModule {
  readonly NODEFS: { readonly node_ops: Operations; readonly stream_ops: Operations };
  readonly FS: FileSystem;
  onRuntimeInitialized?: () => void;
  _PostgresMainLoopOnce(): void;
  stackRestore(pointer: number): void;
}

/**
 * The file system through which the engine sees its folder. It adds memory that other threads can access, the fsync
 * that PGlite lacks, and a fence: once that is closed, this engine cannot change the folder any more. A busy thread
 * cannot be stopped from outside, and a second engine at the same time would ruin the folder.
 */
export class EngineFolder extends NodeFS {
  fsyncCount = 0;
  /** Why the engine must not be used any more: it has ended, or a sync failed, which may have lost writes. */
  failure: string | null = null;
  /** Whether the disk has ever been too full for a write. */
  wasFull = false;
  /** The end of the write-ahead log, in bytes since the cluster was made. */
  logEnd = 0;

  constructor(
    folder: string,
    readonly memory: WebAssembly.Memory,
    readonly fence: Int32Array,
  ) {
    super(folder);
  }

  override async init(pg: PGlite, options: Parameters<NodeFS["init"]>[1]) {
    const { emscriptenOpts } = await super.init(pg, options);
    const prepare = (module: unknown) => this.#prepare(module as EngineModule);
    return {
      emscriptenOpts: {
        ...emscriptenOpts,
        wasmMemory: this.memory,
        preRun: [...(emscriptenOpts.preRun ?? []), prepare],
      },
    };
  }

  #prepare(module: EngineModule): void {
    const { NODEFS, FS } = module;
    const initialized = module.onRuntimeInitialized;
    module.onRuntimeInitialized = () => {
      initialized?.();
      this.#noticeEnd(module);
    };
    cleanUpAfterFailures(module);
    const write = NODEFS.stream_ops.write!;
    NODEFS.stream_ops.write = (stream, buffer, offset, length, position) => {
      const written = write(stream, buffer, offset, length, position);
      const { path } = stream as { path: string };
      if (position !== undefined) this.#noticeLog(path, Number(position) + Number(length));
      return written;
    };
    const failed = () => new FS.ErrnoError(EMSCRIPTEN_EIO);
    NODEFS.stream_ops.fsync = (stream) => {
      try {
        fsyncSync((stream as { nfd: number }).nfd);
      } catch (error) {
        this.failure = `the disk failed: ${textOf(error)}`;
        throw failed();
      }
      this.fsyncCount++;
      return 0;
    };
    for (const operations of [NODEFS.node_ops, NODEFS.stream_ops]) {
      for (const [name, run] of Object.entries(operations)) {
        operations[name] = this.#fenced(run, failed);
      }
    }
  }

  /**
   * PGlite calls an engine that has ended (PANIC, FATAL) again and again, for ever. This makes its first call after a
   * failure, `stackRestore`, throw, which ends the loop.
   */
  #noticeEnd(module: EngineModule): void {
    const run = module._PostgresMainLoopOnce;
    module._PostgresMainLoopOnce = () => {
      try {
        run();
      } catch (error) {
        if ((error as { status?: unknown }).status !== STATEMENT_FAILED) {
          this.failure ??= this.wasFull ? "its disk is full" : `it ended: ${textOf(error)}`;
          module.stackRestore = () => {
            throw error;
          };
        }
        throw error;
      }
    };
  }

  #noticeLog(path: string, end: number): void {
    const file = LOG_FILE.exec(path);
    if (file === null) return;
    const number = Number.parseInt(file[1]!, 16) * LOG_FILES_OF_A_PART +
      Number.parseInt(file[2]!, 16);
    this.logEnd = Math.max(this.logEnd, number * LOG_FILE_BYTES + end);
  }

  /** Counts itself as inside before it checks the fence; closing the fence does these in the other order. */
  #fenced(run: Operation, failed: () => Error): Operation {
    const { fence } = this;
    return (...args) => {
      Atomics.add(fence, FENCE_INSIDE, 1);
      try {
        if (Atomics.load(fence, FENCE_CLOSED) !== 0) throw failed();
        return run(...args);
      } catch (error) {
        if ((error as { errno?: unknown }).errno === EMSCRIPTEN_ENOSPC) this.wasFull = true;
        throw error;
      } finally {
        Atomics.sub(fence, FENCE_INSIDE, 1);
      }
    };
  }
}

/**
 * Makes the file system clean up after failures of the operating system. If a file cannot be made, because there are
 * no descriptors left, its entry would remain, and the file could never be made: it exists (EEXIST), but is not found
 * (ENOENT). If one cannot be opened, its number, one of 4,096, would stay taken.
 */
function cleanUpAfterFailures({ NODEFS: { node_ops, stream_ops }, FS }: EngineModule): void {
  const make = node_ops.mknod!;
  node_ops.mknod = (parent, name, ...rest) => {
    try {
      return make(parent, name, ...rest);
    } catch (error) {
      FS.destroyNode(FS.lookupNode(parent, name));
      throw error;
    }
  };
  const open = stream_ops.open!;
  stream_ops.open = (stream) => {
    try {
      return open(stream);
    } catch (error) {
      FS.closeStream((stream as { fd: number }).fd);
      throw error;
    }
  };
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Files that are synced at once, since one write of the file system's journal serves all that wait for it. */
const SYNCS_AT_ONCE = 32;

/** Syncs a folder and everything in it to the disk. */
export async function syncTree(folder: string): Promise<void> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const paths = ["", ...names].values();
  const syncNext = async () => {
    for (const name of paths) await syncPath(join(folder, name));
  };
  await Promise.all(Array.from({ length: SYNCS_AT_ONCE }, syncNext));
}

/** Syncs the folder that contains `path`, and so its entry, to the disk. */
export async function syncEntry(path: string): Promise<void> {
  await syncPath(dirname(path));
}

async function syncPath(path: string): Promise<void> {
  const isWindows = Deno.build.os === "windows";
  // Windows cannot open a folder, and needs no sync of one.
  if (isWindows && Deno.statSync(path).isDirectory) return;
  using file = await Deno.open(path, { read: true, write: isWindows });
  await file.sync();
}
