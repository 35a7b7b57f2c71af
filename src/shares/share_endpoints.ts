import { recordAudit } from "../audit/audit.ts";
import type { Principal } from "../auth/access.ts";
import { askedBy, type AuditServices } from "../auth/audited.ts";
import { hashPassword } from "../auth/people/passwords.ts";
import { projectOfPath } from "../auth/project_endpoints.ts";
import type { Tokens } from "../auth/tokens.ts";
import type { Sql } from "../db/sql.ts";
import { readJson } from "../http/json_body.ts";
import type { OwnAddress } from "../http/own_address.ts";
import { json } from "../http/reply.ts";
import type { Exchange } from "../http/router.ts";
import type { LiveShares } from "./live_shares.ts";
import { assertShares } from "./share_entry.ts";
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
  readonly shares: Pick<LiveShares, "forget">;
  readonly tokens: Tokens;
  readonly ownAddress: (request: Request, peer: string | null) => OwnAddress;
}

type Asked = Exchange<Principal | null>;

/** What a change of the password is kept as; undefined: it stays. */
async function hashOf(password: string | null | undefined): Promise<string | null | undefined> {
  return typeof password === "string" ? await hashPassword(password) : password;
}

function shownBy({ ownAddress, now }: ShareServices, { request, peer }: Asked, share: Share) {
  return shownShare(share, ownAddress(request, peer).url, now());
}

/** `GET /v1/projects/:id/shares`: `{ shares }`, oldest first. */
export async function getShares(services: ShareServices, asked: Asked): Promise<Response> {
  const { projectId } = await projectOfPath(services.sql, asked);
  const shares = await listShares(services.sql, projectId);
  return json({ shares: shares.map((share) => shownBy(services, asked, share)) });
}

/** `POST /v1/projects/:id/shares`: 201 with the share and its link. Throws `conflict`. */
export async function postShare(services: ShareServices, asked: Asked): Promise<Response> {
  const { sql, now, tokens } = services;
  assertShares(tokens);
  const { projectId } = await projectOfPath(sql, asked);
  const wanted = await readJson(asked.request, ShareCreation);
  const hash = await hashOf(wanted.password) ?? null;
  const share = await sql.transaction(async (inside) => {
    const made = await createShare(inside, projectId, wanted, hash, now());
    const entry = { what: "share.create", subject: made.title, projectId } as const;
    await recordAudit(inside, { ...askedBy(services, asked), ...entry });
    return made;
  });
  return json(shownBy(services, asked, share), 201);
}

/** `PATCH /v1/projects/:id/shares/:shareId`: the share as it is then. */
export async function patchShare(services: ShareServices, asked: Asked): Promise<Response> {
  const { sql, shares } = services;
  const { projectId } = await projectOfPath(sql, asked);
  const known = await requireShare(sql, projectId, asked.params.shareId ?? "");
  const patch = await readJson(asked.request, ShareChange);
  const hash = await hashOf(patch.password);
  const share = await sql.transaction(async (inside) => {
    const changed = await changeShare(inside, known, patch, hash);
    const entry = { what: "share.change", subject: changed.title, projectId } as const;
    await recordAudit(inside, { ...askedBy(services, asked), ...entry });
    return changed;
  });
  shares.forget();
  return json(shownBy(services, asked, share));
}

/** `DELETE /v1/projects/:id/shares/:shareId`: 204; it shows nothing from now on. */
export async function deleteShare(services: ShareServices, asked: Asked): Promise<Response> {
  const { sql, shares } = services;
  const { projectId } = await projectOfPath(sql, asked);
  const share = await requireShare(sql, projectId, asked.params.shareId ?? "");
  await sql.transaction(async (inside) => {
    await revokeShare(inside, share);
    const entry = { what: "share.revoke", subject: share.title, projectId } as const;
    await recordAudit(inside, { ...askedBy(services, asked), ...entry });
  });
  shares.forget();
  return new Response(null, { status: 204 });
}
