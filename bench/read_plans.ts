/** The plans of the statements that the server runs, as PostgreSQL's auto_explain writes them to its log. */
import { join } from "node:path";
import type { Database } from "../src/db/sql.ts";
import type { ThrowawayPostgres } from "../tests/support/throwaway_postgres.ts";

export interface StatementPlan {
  readonly durationMs: number;
  /** Pages that it looked at, in memory or not, and those that it wrote to disk for itself. */
  readonly blocks: number;
  readonly spilledBlocks: number;
  /** What it read of tables and indexes. */
  readonly rowsRead: number;
  /** Node types, each with its inputs in brackets and the rows that it gave. */
  readonly nodes: string;
  readonly statement: string;
}

const LOG_FILE = "plans";
/** The collector writes a line soon after its statement has ended. */
const QUIET_MS = 300;
const STATEMENT_CHARACTERS = 100;

/** What the cluster needs so that plans can be read from its log. */
export const LOG_SETTINGS: Readonly<Record<string, string>> = {
  logging_collector: "on",
  log_destination: "jsonlog",
  log_directory: "log",
  log_filename: LOG_FILE,
  log_rotation_age: "0",
  log_rotation_size: "0",
};

const EXPLAIN_SETTINGS: Readonly<Record<string, string>> = {
  "session_preload_libraries": "auto_explain",
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_analyze": "on",
  "auto_explain.log_buffers": "on",
  // Looking at the clock at every row would slow the statements down; the whole is timed all the same.
  "auto_explain.log_timing": "off",
  "auto_explain.log_format": "json",
};

/** From now on, sessions that are opened on the database write the plans of their statements. */
export async function explainSessions(sql: Database, database: string): Promise<void> {
  for (const [name, value] of Object.entries(EXPLAIN_SETTINGS)) {
    await sql.query(`ALTER DATABASE ${database} SET ${name} = '${value}'`);
  }
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Parallel Aware"?: boolean;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "CTE Name"?: string;
  readonly "Actual Rows"?: number;
  readonly "Actual Loops"?: number;
  readonly "Workers Launched"?: number;
  readonly "Strategy"?: string;
  readonly "Sort Space Type"?: string;
  /** Of a hash aggregation that did not fit into memory. */
  readonly "Disk Usage"?: number;
  readonly "Shared Hit Blocks"?: number;
  readonly "Shared Read Blocks"?: number;
  readonly "Temp Written Blocks"?: number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly "Plans"?: readonly PlanNode[];
}

const rowsOf = (node: PlanNode): number =>
  Math.round((node["Actual Rows"] ?? 0) * (node["Actual Loops"] ?? 0));

/** A scan that nothing stands below reads from a table or an index of its own. */
function rowsReadOf(node: PlanNode): number {
  const inputs = node.Plans ?? [];
  const below = inputs.reduce((sum, input) => sum + rowsReadOf(input), 0);
  const reads = node["Relation Name"] !== undefined &&
    !["ModifyTable", "LockRows"].includes(node["Node Type"]);
  if (!reads) return below;
  const removed = (node["Rows Removed by Filter"] ?? 0) +
    (node["Rows Removed by Index Recheck"] ?? 0);
  return below + rowsOf(node) + removed * (node["Actual Loops"] ?? 0);
}

function nodeText(node: PlanNode): string {
  const { "Workers Launched": workers, "Strategy": strategy } = node;
  const spilled = node["Sort Space Type"] === "Disk" || (node["Disk Usage"] ?? 0) > 0;
  const parts = [
    node["Parallel Aware"] === true ? "Parallel" : null,
    strategy === undefined || strategy === "Plain" ? null : strategy,
    node["Node Type"],
    node["Index Name"] ?? node["Relation Name"] ?? node["CTE Name"] ?? null,
    workers === undefined ? null : `×${workers}`,
    rowsOf(node).toLocaleString("en"),
    spilled ? "on disk" : null,
  ].filter((part) => part !== null);
  const inputs = node.Plans?.map(nodeText) ?? [];
  return parts.join(" ") + (inputs.length === 0 ? "" : ` (${inputs.join(", ")})`);
}

interface Logged {
  readonly application_name?: string;
  readonly message?: string;
}

const MESSAGE = /^duration: ([\d.]+) ms\s+plan:\n(.*)$/s;

function readPlan(line: string): StatementPlan | null {
  const entry = JSON.parse(line) as Logged;
  if (entry.application_name === "bench") return null;
  const [, duration, text] = MESSAGE.exec(entry.message ?? "") ?? [];
  if (duration === undefined || text === undefined) return null;
  const { "Query Text": statement, Plan: plan } = JSON.parse(text) as {
    "Query Text": string;
    "Plan": PlanNode;
  };
  return {
    durationMs: Number(duration),
    blocks: (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0),
    spilledBlocks: plan["Temp Written Blocks"] ?? 0,
    rowsRead: rowsReadOf(plan),
    nodes: nodeText(plan),
    statement: statement.replace(/\s+/g, " ").trim().slice(0, STATEMENT_CHARACTERS),
  };
}

/** Reads what the log has gained since it was last asked. */
export class PlanLog {
  readonly #path: string;
  #read = 0;

  constructor(cluster: ThrowawayPostgres) {
    this.#path = join(cluster.dataDir, "log", `${LOG_FILE}.json`);
  }

  /** The plans of the statements that have ended since the last call. */
  async take(): Promise<StatementPlan[]> {
    let size = -1;
    for (let grown = await this.#size(); grown > size; grown = await this.#size()) {
      size = grown;
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    }
    using file = await Deno.open(this.#path);
    await file.seek(this.#read, Deno.SeekMode.Start);
    const text = await new Response(file.readable).text();
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    this.#read += new TextEncoder().encode(whole).length;
    return whole.split("\n").filter((line) => line !== "").map(readPlan)
      .filter((plan) => plan !== null);
  }

  async #size(): Promise<number> {
    return (await Deno.stat(this.#path)).size;
  }
}
