import { z } from "zod";
import { AUDIT_ACTIONS } from "../audit/audit.ts";
import { listAudit, readAuditPage } from "../audit/audit_list.ts";
import type { Sql } from "../db/sql.ts";
import { json } from "../http/reply.ts";
import { type ApiExchange, requirePrincipal } from "./access.ts";

/** Reply of `GET /v1/audit`. */
export const AuditShown = z.object({
  rows: z.array(z.object({
    at: z.iso.datetime(),
    who: z.string().meta({
      description: "A person's e-mail, or the subject of a token",
      example: "ann@example.com",
    }),
    what: z.enum(AUDIT_ACTIONS),
    subject: z.string().meta({ example: "public key Web shop (…x7Qa)" }),
    project: z.string().nullable().meta({ description: "null: the whole deployment" }),
    from: z.string().nullable().meta({
      description: "The client's address; null: a shell on the server's own machine",
    }),
  })),
  nextCursor: z.string().nullable(),
}).meta({ id: "Audit" });

/** `GET /v1/audit`: who did what, newest first. */
export async function getAudit(
  { sql }: { readonly sql: Sql },
  { who, url }: ApiExchange,
): Promise<Response> {
  const page = readAuditPage(url.searchParams);
  return json(await listAudit(sql, requirePrincipal(who).projects, page));
}
