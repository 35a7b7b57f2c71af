import { z } from "zod";
import { type ApiExchange, requirePrincipal } from "../auth/access.ts";
import { requireEverything } from "../auth/grants.ts";
import { randomText } from "../auth/random_text.ts";
import type { Database } from "../db/sql.ts";
import { readJson } from "../http/json_body.ts";
import { json } from "../http/reply.ts";
import { Problem } from "../problem.ts";
import type { MoveState } from "./move_state.ts";
import { readRowFigures } from "./read_figures.ts";

export interface MoveServices {
  readonly database: Database;
  /** Null on PostgreSQL, from which nothing is moved. */
  readonly move: MoveState | null;
  readonly now: () => number;
}

/** Tables that are not compared: expired salts are not copied. */
export const NOT_COMPARED: ReadonlySet<string> = new Set(["daily_salts"]);
const ADDRESS_LENGTH_MAX = 2_048;

/** Body of `POST /v1/move`. */
export const MoveWanted = z.strictObject({
  action: z.enum(["begin", "pause", "cancel", "complete"]),
  to: z.string().max(ADDRESS_LENGTH_MAX).optional().meta({
    description: "With complete: the new address, without user and password",
  }),
}).meta({ id: "MoveWanted" });

/** Its reply. */
export const MoveShown = z.object({
  status: z.enum(["none", "copying", "paused", "moved"]),
  source: z.string().nullable(),
  to: z.string().nullable(),
}).meta({ id: "Move" });

const Figures = z.object({ count: z.int(), digest: z.string() });
/** Reply of `GET /v1/move/rows`. */
export const MoveRows = z.object({
  rows: z.record(z.string(), z.record(z.string(), Figures)),
  events: z.record(z.string(), z.int()),
}).meta({ id: "MoveRows" });

function stateOf({ move }: MoveServices): MoveState {
  if (move !== null) return move;
  throw new Problem(
    "conflict",
    "This server has PostgreSQL already. Use `footfall archive` and `footfall restore`, or " +
      "PostgreSQL's own tools.",
  );
}

/** `POST /v1/move`: `footfall move` reports its next step. */
export async function postMove(
  services: MoveServices,
  { who, request }: ApiExchange,
): Promise<Response> {
  requireEverything(requirePrincipal(who));
  const { action, to } = await readJson(request, MoveWanted);
  const state = stateOf(services);
  let source: string | null = null;
  if (action === "begin") source = await state.begin(randomText);
  else if (action === "pause") await state.pause();
  else if (action === "cancel") await state.cancel();
  else await state.complete(to ?? "postgres://…", services.now());
  return json({ status: state.status, source, to: state.to });
}

/** `GET /v1/move`: replies with the state of the move. */
export function getMove(services: MoveServices, { who }: ApiExchange): Response {
  requireEverything(requirePrincipal(who));
  const { status, to } = stateOf(services);
  return json({ status, source: null, to });
}

/** Counts the events of each project. */
export async function countEvents(database: Database): Promise<Record<string, number>> {
  const rows = await database.query<{ id: string; events: number }>(
    `SELECT public_id AS id, (SELECT count(*) FROM event_ids e
      WHERE e.project_id = p.project_id)::int AS events
    FROM projects p ORDER BY project_id`,
  );
  return Object.fromEntries(rows.map(({ id, events }) => [id, events]));
}

/** `GET /v1/move/rows`: replies with the source's figures, which are compared with the target's. */
export async function getMoveRows(
  services: MoveServices,
  { who }: ApiExchange,
): Promise<Response> {
  requireEverything(requirePrincipal(who));
  const { database } = services;
  const rows = await readRowFigures(database, true, NOT_COMPARED);
  return json({ rows, events: await countEvents(database) });
}
