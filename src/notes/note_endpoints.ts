import { recordAudit } from "../audit/audit.ts";
import { type ApiExchange, insufficientScope } from "../auth/access.ts";
import { askedBy, auditName, type AuditServices } from "../auth/audited.ts";
import type { KeyDirectory } from "../auth/keys.ts";
import { projectOfQuery } from "../auth/project_of_query.ts";
import { type Project, requireProject } from "../auth/projects.ts";
import { holdProject } from "../db/held_project.ts";
import type { Sql } from "../db/sql.ts";
import { readJson } from "../http/json_body.ts";
import { readReply } from "../http/read_reply.ts";
import { json } from "../http/reply.ts";
import { Problem } from "../problem.ts";
import { PROJECT_QUERY } from "../query/project_query.ts";
import { namesBound } from "../query/range.ts";
import { readOfList, WITHOUT_EFFECT } from "../query/without_effect.ts";
import {
  assertKeyMayWrite,
  changeNote,
  createNote,
  deleteNote,
  listNotes,
  type Note,
  type NoteAuthor,
  NoteChange,
  NoteCreation,
  requireNote,
} from "./notes.ts";

export interface NoteServices extends AuditServices {
  readonly sql: Sql;
  readonly keys: Pick<KeyDirectory, "authenticate">;
  readonly now: () => number;
}

/** The parameters of `GET /v1/notes`. */
export const NOTES_QUERY: Readonly<Record<string, string>> = {
  ...PROJECT_QUERY,
  from: "Local date, inclusive, or instant. Without from and to: all notes",
  to: "Local date, inclusive, or instant, exclusive. Default with from: today",
  timezone: "IANA time zone of the local dates. Default: the project's",
  ...WITHOUT_EFFECT,
};

/** The meaning of the list, for its replies. */
export const NOTES_SEMANTICS =
  "The project's notes in the order of their times, a day before the instants in it; with `from` or `to` those of a day or an instant in the range. Nothing is counted, so no event is pending.";

/** `GET /v1/notes`: the notes in the range; all without one. Throws `invalid_parameter`. */
export async function getNotes(
  { sql, now }: Pick<NoteServices, "sql" | "now">,
  exchange: ApiExchange,
): Promise<Response> {
  const project = await projectOfQuery(sql, exchange);
  const { request, url: { searchParams: query } } = exchange;
  const asOf = new Date(now());
  const { range, resolved } = readOfList(query, NOTES_QUERY, project, asOf.getTime());
  const isNamed = namesBound(query);
  const shown = { ...resolved, ...isNamed ? {} : { from: null, to: null } };
  const { timezone } = range;
  const notes = await listNotes(sql, project.projectId, isNamed ? range : null, timezone);
  return await readReply(request, { asOf, pending: 0 }, { ...shown, semantics: NOTES_SEMANTICS }, {
    notes,
  });
}

/** Who writes a note, in which project, and the writer in the audit. */
interface Writing {
  readonly project: Project;
  readonly author: NoteAuthor;
  readonly audited: { readonly who: string; readonly from: string | null };
}

/** Finds who writes by the request's API key; public keys are refused, since every visitor can read them. */
async function writingByKey(
  { sql, keys, clientAddress }: NoteServices,
  { request, url, peer }: ApiExchange,
  sent: string,
): Promise<Writing> {
  const key = await keys.authenticate(sent);
  if (key.kind !== "secret") {
    throw new Problem("key_not_allowed_here", "Notes take a secret key, or a token.");
  }
  const named = url.searchParams.get("project");
  if (named !== null && named !== "" && named !== key.projectPublicId) {
    throw insufficientScope("The API key is not for this project.");
  }
  const [known] = await sql.query<{ label: string | null; hint: string }>(
    "SELECT label, hint FROM api_keys WHERE project_id = $1::int AND key_id = $2::text",
    [key.projectId, key.keyId],
  );
  const by = known?.label ? `API key ${known.label}` : `API key …${known?.hint ?? ""}`;
  return {
    project: await requireProject(sql, key.projectPublicId),
    author: { by, keyId: key.keyId },
    audited: { who: by, from: clientAddress(peer, request.headers) },
  };
}

async function writingOf(services: NoteServices, exchange: ApiExchange): Promise<Writing> {
  const { request, who } = exchange;
  if (who === null) {
    return await writingByKey(services, exchange, request.headers.get("x-api-key") ?? "");
  }
  return {
    project: await projectOfQuery(services.sql, exchange),
    author: { by: auditName(who), keyId: null },
    audited: askedBy(services, exchange),
  };
}

const subjectOf = ({ at, text }: Note): string => `${at}: ${text}`;

/** `POST /v1/notes`: 201 with the note. Throws `conflict`, `rate_limited`, and what refuses a key. */
export async function postNote(services: NoteServices, exchange: ApiExchange): Promise<Response> {
  const { sql, now } = services;
  const { project: { projectId }, author, audited } = await writingOf(services, exchange);
  const wanted = await readJson(exchange.request, NoteCreation);
  const note = await sql.transaction(async (tx) => {
    await assertKeyMayWrite(tx, projectId, author);
    const made = await createNote(tx, projectId, wanted, author, now());
    const subject = subjectOf(made);
    await recordAudit(tx, { ...audited, what: "note.create", subject, projectId });
    return made;
  });
  return json(note, 201);
}

/** `PATCH /v1/notes/:id`: the changed note. */
export async function patchNote(services: NoteServices, exchange: ApiExchange): Promise<Response> {
  const { project: { projectId }, author, audited } = await writingOf(services, exchange);
  const patch = await readJson(exchange.request, NoteChange);
  const note = await services.sql.transaction(async (tx) => {
    await assertKeyMayWrite(tx, projectId, author);
    await holdProject(tx, projectId);
    const before = await requireNote(tx, projectId, exchange.params.id ?? "");
    const changed = await changeNote(tx, projectId, before.id, patch);
    const subject = subjectOf(changed);
    if (subject !== subjectOf(before)) {
      await recordAudit(tx, { ...audited, what: "note.change", subject, projectId });
    }
    return changed;
  });
  return json(note);
}

/** `DELETE /v1/notes/:id`: 204. */
export async function removeNote(services: NoteServices, exchange: ApiExchange): Promise<Response> {
  const { project: { projectId }, author, audited } = await writingOf(services, exchange);
  await services.sql.transaction(async (tx) => {
    await assertKeyMayWrite(tx, projectId, author);
    const gone = await deleteNote(tx, projectId, exchange.params.id ?? "");
    const entry = { what: "note.delete", subject: subjectOf(gone), projectId } as const;
    await recordAudit(tx, { ...audited, ...entry });
  });
  return new Response(null, { status: 204 });
}
