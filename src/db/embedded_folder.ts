import { closeSync, fsyncSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";
import { FENCE_CLOSED, FENCE_INSIDE } from "./embedded_fence.ts";

const EMSCRIPTEN_EIO = 29;

type Operation = (...args: unknown[]) => unknown;
type Operations = Record<string, Operation>;

/** The parts of the engine's own module that are used here. */
interface EngineModule {
  readonly NODEFS: { readonly node_ops: Operations; readonly stream_ops: Operations };
  readonly FS: { readonly ErrnoError: new (errno: number) => Error };
}

/**
 * The engine's view of its folder. It gets memory that other threads can reach, the fsync that PGlite
 * lacks, and a fence: once that is closed, nothing in the folder can be changed through this engine.
 * A thread that is busy cannot be ended from outside; a second engine on its folder would ruin it.
 */
export class EngineFolder extends NodeFS {
  fsyncCount = 0;
  /** Final: what was written before may be gone. */
  fsyncFailure: string | null = null;

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

  #prepare({ NODEFS, FS }: EngineModule): void {
    const failed = () => new FS.ErrnoError(EMSCRIPTEN_EIO);
    NODEFS.stream_ops.fsync = (stream) => {
      try {
        fsyncSync((stream as { nfd: number }).nfd);
      } catch (error) {
        this.fsyncFailure = error instanceof Error ? error.message : String(error);
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

  /** Says that it is inside before it looks at the fence; who closes the fence looks in the other order. */
  #fenced(run: Operation, failed: () => Error): Operation {
    const { fence } = this;
    return (...args) => {
      Atomics.add(fence, FENCE_INSIDE, 1);
      try {
        if (Atomics.load(fence, FENCE_CLOSED) !== 0) throw failed();
        return run(...args);
      } finally {
        Atomics.sub(fence, FENCE_INSIDE, 1);
      }
    };
  }
}

/** Writes a folder to the disk, with everything in it. */
export function syncTree(folder: string): void {
  for (const entry of Deno.readDirSync(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) syncTree(path);
    else syncPath(path);
  }
  syncPath(folder);
}

/** Writes the entry of `path` in the folder around it to the disk. */
export function syncEntry(path: string): void {
  syncPath(dirname(path));
}

function syncPath(path: string): void {
  // Windows cannot open a folder, and needs no sync of one.
  if (Deno.build.os === "windows" && Deno.statSync(path).isDirectory) return;
  const descriptor = openSync(path, Deno.build.os === "windows" ? "r+" : "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
