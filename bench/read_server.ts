/** The real server on a history, and what its reads take. */
import { SignJWT } from "jose";
import { nameOfSet, type Preparation, type ReadSet } from "./read_requests.ts";
import { type ServerProcess, startServer } from "./server_process.ts";

export interface MeasuredRead {
  readonly query: string;
  readonly ms: number;
  readonly replyBytes: number;
  /** As the reply tells it; null where it does not. */
  readonly rowsRead: number | null;
}

export interface MeasuredSet {
  readonly set: ReadSet;
  readonly reads: readonly MeasuredRead[];
  /** What else was answered, e.g. `503 read_timeout` → how often. */
  readonly refusals: Readonly<Record<string, number>>;
}

const REFUSALS_MAX = 3;

/** For every server that the benchmark starts: they inherit it. */
const JWT_SECRET = "a secret of the read benchmark, 32 bytes or more";

/** Where a history lies: in PostgreSQL, or in an embedded database. */
export type HistoryPlace = { readonly url: string } | { readonly dataDir: string };

/** A server on a history, and a token for all that the benchmark does. */
export class ReadServer {
  private constructor(
    readonly server: ServerProcess,
    /** A folder that is removed with the server; null: there is none. */
    readonly temporary: string | null,
    readonly token: string,
  ) {}

  static async start(folder: string, place: HistoryPlace): Promise<ReadServer> {
    Deno.env.set("JWT_SECRET", JWT_SECRET);
    const token = await new SignJWT({ projects: ["*"], scope: "read write" })
      .setProtectedHeader({ alg: "HS256" }).setSubject("bench").setIssuedAt()
      .setExpirationTime("12h").sign(new TextEncoder().encode(JWT_SECRET));
    if ("dataDir" in place) {
      return new ReadServer(await startServer(folder, null, place.dataDir), null, token);
    }
    const temporary = await Deno.makeTempDir({ prefix: "footfall-bench-" });
    try {
      return new ReadServer(await startServer(folder, place.url, temporary), temporary, token);
    } catch (error) {
      await Deno.remove(temporary, { recursive: true });
      throw error;
    }
  }

  /** Saves what reads will look at. @returns what could not be saved, and why */
  async prepare(preparations: readonly Preparation[], project: string): Promise<string[]> {
    const notes: string[] = [];
    for (const { path, body } of preparations) {
      const reply = await this.#send(`${path}?project=${project}`, "PUT", JSON.stringify(body));
      const text = await reply.text();
      if (!reply.ok) notes.push(`PUT ${path}: ${refusalOf(reply.status, text)}`);
    }
    return notes;
  }

  /** Asks one after the other. Null where the endpoint does not exist. */
  async measure(set: ReadSet): Promise<MeasuredSet | null> {
    const reads: MeasuredRead[] = [];
    const refusals: Record<string, number> = {};
    for (const query of set.queries) {
      const startedAt = performance.now();
      const reply = await this.#send(`${set.endpoint}?${query}`, "GET", null);
      const text = await reply.text();
      const ms = performance.now() - startedAt;
      const refusal = reply.status === 200 ? null : refusalOf(reply.status, text);
      if (refusal === "404 not_found") return null;
      if (refusal === null) {
        reads.push({ query, ms, replyBytes: text.length, rowsRead: rowsReadOf(text) });
      } else {
        refusals[refusal] ??= 0;
        if (refusals[refusal]++ === 0) console.error(`${nameOfSet(set)}: ${text}`);
        // Each takes as long as a read may: three say it.
        if (refusals[refusal] >= REFUSALS_MAX) break;
      }
    }
    return { set, reads, refusals };
  }

  async stop(): Promise<void> {
    await this.server.stop();
    if (this.temporary !== null) await Deno.remove(this.temporary, { recursive: true });
  }

  #send(target: string, method: string, body: string | null): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.server.port}/v1/${target}`, {
      method,
      body,
      headers: {
        "Authorization": `Bearer ${this.token}`,
        ...(body === null ? {} : { "Content-Type": "application/json" }),
      },
    });
  }
}

function refusalOf(status: number, text: string): string {
  try {
    return `${status} ${(JSON.parse(text) as { code?: string }).code ?? ""}`.trim();
  } catch {
    return String(status);
  }
}

function rowsReadOf(text: string): number | null {
  const { rowsRead } = JSON.parse(text) as { rowsRead?: unknown };
  return typeof rowsRead === "number" ? rowsRead : null;
}
