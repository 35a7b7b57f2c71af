import { recordAudit } from "../audit/audit.ts";
import type { ApiExchange } from "../auth/access.ts";
import { askedBy, type AuditServices } from "../auth/audited.ts";
import { assertNotOver } from "../auth/expiry.ts";
import { hashPassword } from "../auth/people/passwords.ts";
import { projectOfPath } from "../auth/project_endpoints.ts";
import type { Tokens } from "../auth/tokens.ts";
import { holdProject } from "../db/held_project.ts";
import type { Sql } from "../db/sql.ts";
import { readJson } from "../http/json_body.ts";
import type { OwnAddress } from "../http/own_address.ts";
import { json } from "../http/reply.ts";
import type { LiveShares } from "./live_shares.ts";
import { hashingFor } from "./share_hashes.ts";
import { assertCanShare } from "./share_entry.ts";
import {
  changeShare,
  createShare,
  listShares,
  requireShare,
  revokeShare,
  type Share,
  ShareChange,
  ShareCreation,
  shownShare,
} from "./shares.ts";

export interface ShareServices extends AuditServices {
  readonly sql: Sql;
  readonly now: () => number;
  readonly shares: Pick<LiveShares, "invalidate">;
  readonly tokens: Tokens;
  readonly ownAddress: (request: Request, peer: string | null) => OwnAddress;
}

/** Returns the hash of a new password; undefined: the password stays. */
async function hashOf(
  projectId: number,
  password: string | null | undefined,
): Promise<string | null | undefined> {
  return typeof password === "string"
    ? await hashingFor(projectId, () => hashPassword(password))
    : password;
}

function shownBy({ ownAddress, now }: ShareServices, { request, peer }: ApiExchange, share: Share) {
  return shownShare(share, ownAddress(request, peer).url, now());
}

/** `GET /v1/projects/:id/shares`: `{ shares }`, oldest first. */
export async function getShares(services: ShareServices, exchange: ApiExchange): Promise<Response> {
  const { projectId } = await projectOfPath(services.sql, exchange);
  const shares = await listShares(services.sql, projectId);
  return json({ shares: shares.map((share) => shownBy(services, exchange, share)) });
}

/** `POST /v1/projects/:id/shares`: 201 with the share and its link. Throws `conflict`. */
export async function postShare(services: ShareServices, exchange: ApiExchange): Promise<Response> {
  const { sql, now, tokens } = services;
  assertCanShare(tokens);
  const { projectId } = await projectOfPath(sql, exchange);
  const wanted = await readJson(exchange.request, ShareCreation);
  assertNotOver(wanted.expiresAt, now());
  const hash = await hashOf(projectId, wanted.password) ?? null;
  const share = await sql.transaction(async (inside) => {
    const made = await createShare(inside, projectId, wanted, hash, now());
    const entry = { what: "share.create", subject: made.title, projectId } as const;
    await recordAudit(inside, { ...askedBy(services, exchange), ...entry });
    return made;
  });
  return json(shownBy(services, exchange, share), 201);
}

/** `PATCH /v1/projects/:id/shares/:shareId`: the changed share. */
export async function patchShare(
  services: ShareServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, shares } = services;
  const { projectId } = await projectOfPath(sql, exchange);
  const { id } = await requireShare(sql, projectId, exchange.params.shareId ?? "");
  const patch = await readJson(exchange.request, ShareChange);
  const hash = await hashOf(projectId, patch.password);
  const share = await sql.transaction(async (inside) => {
    await holdProject(inside, projectId);
    const before = await requireShare(inside, projectId, id);
    const changed = await changeShare(inside, before, patch, hash);
    if (JSON.stringify(before) !== JSON.stringify(changed)) {
      const entry = { what: "share.change", subject: changed.title, projectId } as const;
      await recordAudit(inside, { ...askedBy(services, exchange), ...entry });
    }
    return changed;
  });
  shares.invalidate();
  return json(shownBy(services, exchange, share));
}

/** `DELETE /v1/projects/:id/shares/:shareId`: 204; within a second no server shows it. */
export async function deleteShare(
  services: ShareServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, shares } = services;
  const { projectId } = await projectOfPath(sql, exchange);
  const share = await requireShare(sql, projectId, exchange.params.shareId ?? "");
  await sql.transaction(async (inside) => {
    await revokeShare(inside, share);
    const entry = { what: "share.revoke", subject: share.title, projectId } as const;
    await recordAudit(inside, { ...askedBy(services, exchange), ...entry });
  });
  shares.invalidate();
  return new Response(null, { status: 204 });
}
