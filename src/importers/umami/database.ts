import type { Members } from "../json_rows.ts";
import type { SourceRow } from "../source.ts";
import { dataValue } from "./map.ts";

/** Rows that the cursor fetches at once. */
const CURSOR_ROWS = 1_000;
const CONNECT_S_MAX = 20;

/** A website in Umami. */
interface Website {
  readonly id: string;
  readonly name: string;
  readonly domain: string | null;
}

/** Umami's database cannot be read. The message is a sentence without the address's user and password. */
class UmamiUnreadable extends Error {
  override readonly name = "UmamiUnreadable";
}

type Postgres = typeof import("postgres");
type Client = ReturnType<Postgres>;

/** Returns an address without user and password. */
function shownAddress(address: string): string {
  const url = URL.parse(address);
  return url === null ? "the database" : `${url.host}${url.pathname}`;
}

function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === "42P01") return "it holds no tables of Umami (website, website_event, session)";
  return typeof message === "string" && message !== "" ? message : String(code);
}

/** Reads Umami's PostgreSQL, and writes nothing to it. */
export class UmamiDatabase {
  readonly #client: Client;
  readonly #shown: string;

  private constructor(client: Client, address: string) {
    this.#client = client;
    this.#shown = shownAddress(address);
  }

  static async open(address: string): Promise<UmamiDatabase> {
    const { default: postgres } = await import("postgres");
    const client = postgres(address, {
      max: 1,
      connect_timeout: CONNECT_S_MAX,
      onnotice: () => {},
      connection: {
        application_name: "footfall import",
        default_transaction_read_only: true,
        TimeZone: "UTC",
      },
    });
    return new UmamiDatabase(client, address);
  }

  async close(): Promise<void> {
    await this.#client.end({ timeout: 5 });
  }

  #unreadable(error: unknown): UmamiUnreadable {
    return new UmamiUnreadable(`Umami's database at ${this.#shown}: ${reasonOf(error)}.`, {
      cause: error,
    });
  }

  /** Lists the websites that are not deleted. Throws UmamiUnreadable. */
  async websites(): Promise<Website[]> {
    try {
      return await this.#client<Website[]>`
        SELECT website_id::text AS id, name, domain
        FROM website WHERE deleted_at IS NULL ORDER BY created_at, website_id
      `;
    } catch (error) {
      throw this.#unreadable(error);
    }
  }

  /**
   * Yields the rows of `website_event` of a website, each with the columns of its session and its properties,
   * from one snapshot of the database. `line` is the row's number.
   *
   * Whole rows are read as JSON, so that versions of Umami with other columns can be read, too.
   */
  async *rows(website: string): AsyncGenerator<SourceRow[]> {
    const held = await this.#client.reserve().catch((error) => {
      throw this.#unreadable(error);
    });
    let line = 0;
    try {
      await held`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`;
      const cursor = held<Found[]>`
        SELECT to_jsonb(e) AS event, to_jsonb(s) AS session, (
          SELECT jsonb_agg(to_jsonb(d)) FROM event_data d WHERE d.website_event_id = e.event_id
        ) AS data
        FROM website_event e LEFT JOIN session s ON s.session_id = e.session_id
        WHERE e.website_id = ${website}
        ORDER BY e.created_at, e.event_id
      `.cursor(CURSOR_ROWS);
      for await (const found of cursor) {
        yield found.map((row) => ({ file: this.#shown, line: ++line, value: rowOf(row) }));
      }
    } catch (error) {
      throw this.#unreadable(error);
    } finally {
      await held`ROLLBACK`.catch(() => {});
      held.release();
    }
  }
}

interface Found {
  readonly event: Members;
  readonly session: Members | null;
  readonly data: readonly Members[] | null;
}

/** Returns a row as the export has it: with the columns of the session and of the event. */
function rowOf({ event, session, data }: Found): Members {
  // The session's `created_at` is its beginning. Of other columns that both have, the event's counts.
  const { created_at: _, ...visitor } = session ?? {};
  const stated = Object.fromEntries(
    Object.entries(event).filter(([, value]) => value !== null),
  );
  if (data === null) return { ...visitor, ...stated };
  const properties = Object.create(null) as Record<string, unknown>;
  for (const row of data) {
    // Until version 2.8 the column was `event_key`.
    const key = row.data_key ?? row.event_key;
    if (typeof key === "string") properties[key] = dataValue(row);
  }
  return { ...visitor, ...stated, data: properties };
}
