/// <reference lib="deno.worker" />
/** The embedded engine's own thread: it answers what `EngineThread` asks. */
import type { PGlite } from "@electric-sql/pglite";
import {
  type BinaryRow,
  declareRows,
  FETCH_ROWS,
  rowsOfMessages,
  simpleQuery,
} from "./binary_rows.ts";
import { type EngineFolder, textOf } from "./embedded_folder.ts";
import { openFolder, startEngine } from "./embedded_start.ts";

/** What the main thread sends. `params` are text or null; for `fence` see embedded_fence.ts. */
export type WorkerRequest =
  | {
    readonly id: number;
    readonly kind: "open";
    readonly folder: string;
    readonly fence: Int32Array;
    /** The path of the template of a new cluster; null: PGlite makes one. */
    readonly template: string | null;
    readonly statementTimeoutMs: number;
  }
  | {
    readonly id: number;
    readonly kind: "query" | "binary";
    readonly text: string;
    readonly params: readonly (string | null)[];
  }
  | { readonly id: number; readonly kind: "script"; readonly text: string }
  | { readonly id: number; readonly kind: "diagnostics" }
  | { readonly id: number; readonly kind: "checkpoint" }
  | { readonly id: number; readonly kind: "close" };

/**
 * The reply: `limitMs` is the `statement_timeout` in force from now on (0: none), `logBytes` the size of
 * the write-ahead log since the last checkpoint. `sqlState` is null where the engine around PostgreSQL
 * failed, not PostgreSQL; `diskIsFull` may be the reason.
 */
export type WorkerReply =
  & {
    readonly id: number;
    readonly limitMs: number;
    readonly logBytes: number;
    readonly diskIsFull: boolean;
  }
  & (
    | { readonly rows: readonly unknown[] }
    | { readonly failure: string; readonly sqlState: string | null }
  );

/** The row that answers `open`: the engine's memory, and the addresses of two of PostgreSQL's flags in it. */
export interface OpenedEngine {
  readonly memory: SharedArrayBuffer;
  readonly queryCancelPendingAt: number;
  readonly interruptPendingAt: number;
}

/** The parts of the engine's own module that are used here. */
interface EngineModule {
  readonly HEAPU8: Uint8Array<SharedArrayBuffer>;
  readonly _QueryCancelPending: number;
  readonly _InterruptPending: number;
  _GetConfigOption(name: number, missingOk: number, restrictPrivileged: number): number;
  stringToUTF8OnStack(text: string): number;
  UTF8ToString(pointer: number): string;
  stackSave(): number;
  stackRestore(pointer: number): void;
}

let database: PGlite | null = null;
let folder: EngineFolder | null = null;
let logBegin = 0;
let queue: Promise<void> = Promise.resolve();

// Set before the first await: a message that arrives earlier would be lost.
self.onmessage = (event: MessageEvent<WorkerRequest>) => {
  const request = event.data;
  queue = queue.then(async () => {
    const answer = await reply(request);
    const isBinary = request.kind === "binary" && "rows" in answer;
    self.postMessage(answer, isBinary ? buffersOf(answer.rows as readonly BinaryRow[]) : []);
  });
};

/** Returns the buffers of the rows, which are transferred instead of copied. */
function buffersOf(rows: readonly BinaryRow[]): ArrayBuffer[] {
  return [...new Set(rows.flatMap((row) => row.map(({ buffer }) => buffer as ArrayBuffer)))];
}

async function reply(request: WorkerRequest): Promise<WorkerReply> {
  const { id } = request;
  try {
    const rows = await perform(request);
    const failure = folder?.failure ?? null;
    if (failure !== null) throw new Error(failure);
    return { id, rows, ...state(statementTimeoutMs()) };
  } catch (error) {
    const failure = folder?.failure ?? textOf(error);
    const sqlState = folder === null || folder.failure !== null ? null : sqlStateOf(error);
    return { id, failure, sqlState, ...state(sqlState === null ? 0 : statementTimeoutMs()) };
  }
}

function state(limitMs: number) {
  const logEnd = folder?.logEnd ?? 0;
  // The log before this start does not count: the start began with a checkpoint.
  if (logBegin === 0) logBegin = logEnd;
  return { limitMs, logBytes: logEnd - logBegin, diskIsFull: folder?.wasFull ?? false };
}

async function perform(request: WorkerRequest): Promise<readonly unknown[]> {
  if (request.kind === "open") {
    const { fence, statementTimeoutMs, template } = request;
    folder = await openFolder(request.folder, fence, template);
    if (folder === null) return [];
    database = await startEngine(folder, statementTimeoutMs);
    const { HEAPU8, _QueryCancelPending, _InterruptPending } = moduleOf(database);
    const opened: OpenedEngine = {
      memory: HEAPU8.buffer,
      queryCancelPendingAt: _QueryCancelPending,
      interruptPendingAt: _InterruptPending,
    };
    return [opened];
  }
  if (request.kind === "diagnostics") return [{ fsyncCount: folder?.fsyncCount ?? 0 }];
  if (database === null) throw new Error("the database is not open");
  if (request.kind === "checkpoint") {
    const end = folder?.logEnd ?? 0;
    await database.exec("CHECKPOINT");
    logBegin = end;
    return [];
  }
  if (request.kind === "close") {
    await database.close();
    database = null;
    return [];
  }
  clearCancellation(moduleOf(database));
  if (request.kind === "query") {
    return (await database.query(request.text, [...request.params])).rows;
  }
  if (request.kind === "binary") {
    await database.query(declareRows(request.text), [...request.params]);
    return rowsOfMessages(await database.execProtocolRaw(simpleQuery(FETCH_ROWS)));
  }
  await database.exec(request.text);
  return [];
}

/** Clears a cancellation that came too late for the last statement, so that it does not end the next one. */
function clearCancellation({ HEAPU8, _QueryCancelPending }: EngineModule): void {
  Atomics.store(new Int32Array(HEAPU8.buffer), _QueryCancelPending >> 2, 0);
}

/** Reads the setting in force. PostgreSQL's own timer needs signals, which WebAssembly lacks. */
function statementTimeoutMs(): number {
  if (database === null) return 0;
  const engine = moduleOf(database);
  const stack = engine.stackSave();
  const name = engine.stringToUTF8OnStack("statement_timeout");
  const value = Number(engine.UTF8ToString(engine._GetConfigOption(name, 0, 0)));
  engine.stackRestore(stack);
  return value;
}

function moduleOf(pglite: PGlite): EngineModule {
  return pglite.Module as unknown as EngineModule;
}

function sqlStateOf(error: unknown): string | null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}
