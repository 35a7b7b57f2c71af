import { z } from "zod";
import { recordAudit } from "../audit/audit.ts";
import type { Sql } from "../db/sql.ts";
import { readJson } from "../http/json_body.ts";
import { json } from "../http/reply.ts";
import {
  API_KEY_LENGTH_MAX,
  KEY_OVERLAP_S_DEFAULT,
  KEY_OVERLAP_S_MAX,
  NAME_LENGTH_MAX,
} from "../limits.ts";
import { Problem } from "../problem.ts";
import { type ApiExchange, requirePrincipal } from "./access.ts";
import { askedBy, type AuditServices } from "./audited.ts";
import { assertNotOver } from "./expiry.ts";
import type { KeyDirectory } from "./keys.ts";
import { isSiteOfAnother } from "./site_keys.ts";
import { projectOfPath } from "./project_endpoints.ts";
import { InstantOrNull, PlainText } from "../text_schemas.ts";
import {
  createKey,
  isAdoptableKey,
  keyName,
  listKeys,
  revokeKey,
  rotateKey,
} from "./stored_keys.ts";

export interface KeyServices extends AuditServices {
  readonly sql: Sql;
  readonly now: () => number;
  readonly keys: Pick<KeyDirectory, "invalidate">;
}

const kind = z.enum(["public", "secret"], "Use public or secret.")
  .meta({ description: "public: for pages, ingest only; secret: for servers." });
const label = PlainText.trim().max(NAME_LENGTH_MAX, `Use at most ${NAME_LENGTH_MAX} characters.`)
  .nullable().meta({ description: "What people call the key.", example: "Web shop" });
const expiresAt = InstantOrNull.meta({
  description: "From when on the key is refused, later than now; null: never.",
});

const value = z.string().refine(
  isAdoptableKey,
  `Give 1 to ${API_KEY_LENGTH_MAX} printable ASCII characters, without blanks around them.`,
).nullable().meta({
  description: "A key of another system, which is adopted as it is: its clients need no new one. " +
    `1 to ${API_KEY_LENGTH_MAX} printable ASCII characters, no other key of this server.`,
  example: "3oXfJkVQzR1yT8uWq2LbN0cDhEi",
});

/** Body of `POST /v1/projects/:id/keys`. */
export const KeyCreation = z.strictObject({
  kind,
  label: label.default(null),
  expiresAt: expiresAt.default(null),
  value: value.default(null),
}).meta({ id: "KeyCreation" });

/** Body of `POST /v1/projects/:id/keys/:keyId/rotate`. */
export const KeyRotation = z.strictObject({
  overlapSeconds: z.int("Give a whole number of seconds.")
    .min(0, "Give 0 or more seconds.")
    .max(KEY_OVERLAP_S_MAX, `Use at most ${KEY_OVERLAP_S_MAX} seconds.`)
    .default(KEY_OVERLAP_S_DEFAULT)
    .meta({ description: "For how long the old key keeps working.", example: 3600 }),
}).meta({ id: "KeyRotation" });

/** A key in a list. */
export const KeyShown = z.object({
  id: z.string().meta({ example: "key_0aB1cD2eF3gH4iJ5" }),
  kind,
  label,
  hint: z.string().meta({
    description: "The key's last four characters, fewer of a short one.",
    example: "x7Qa",
  }),
  key: z.string().nullable().meta({
    description: "The whole of a public key, which stands in every page's source. null: a secret " +
      "key, or a public one of before they were kept, until it is used the next time.",
  }),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  revokedAt: z.iso.datetime().nullable(),
  status: z.enum(["active", "expired", "revoked"]),
}).meta({ id: "Key" });

/** The reply to the creation of a key. */
export const KeyCreated = KeyShown.extend({
  key: z.string().meta({ description: "The key itself. A secret one is shown only here." }),
}).meta({ id: "CreatedKey" });

/** `GET /v1/projects/:id/keys`: `{ keys }`, public ones whole. */
export async function getKeys({ sql, now }: KeyServices, exchange: ApiExchange): Promise<Response> {
  const { projectId } = await projectOfPath(sql, exchange);
  return json({ keys: await listKeys(sql, projectId, now()) });
}

/**
 * `POST /v1/projects/:id/keys`: 201 with the key. A secret one is never shown again. `conflict` (409)
 * if the value to be adopted is already a key of this server.
 */
export async function postKey(services: KeyServices, exchange: ApiExchange): Promise<Response> {
  const { sql, now, keys } = services;
  const { projectId } = await projectOfPath(sql, exchange);
  const { kind, label, expiresAt, value } = await readJson(exchange.request, KeyCreation);
  assertNotOver(expiresAt, now());
  // Keys take precedence over sites, so this key would take the events that the other project's pages send by
  // their domain. No transaction is needed: a site that is set later does not outrank an existing key either.
  const mayTakeOver = requirePrincipal(exchange.who).projects === "*";
  if (value !== null && !mayTakeOver && await isSiteOfAnother(sql, value, projectId)) {
    throw new Problem(
      "conflict",
      "This is the site of another project. Only a token for every project may make it a key.",
    );
  }
  const created = await sql.transaction(async (inside) => {
    const made = await createKey(inside, {
      projectId,
      kind,
      label,
      expiresAt: expiresAt === null ? null : new Date(expiresAt),
      nowMs: now(),
      adopted: value,
    });
    const subject = value === null ? keyName(made) : `${keyName(made)}, adopted`;
    await recordAudit(inside, {
      ...askedBy(services, exchange),
      what: "key.create",
      subject,
      projectId,
    });
    return made;
  });
  keys.invalidate();
  const location = `${exchange.url.pathname}/${created.id}`;
  return json(created, 201, { "Location": location });
}

/** `DELETE /v1/projects/:id/keys/:keyId`: 204; the key is refused from now on. */
export async function deleteKey(services: KeyServices, exchange: ApiExchange): Promise<Response> {
  const { sql, now, keys } = services;
  const { projectId } = await projectOfPath(sql, exchange);
  const keyId = exchange.params.keyId ?? "";
  await sql.transaction(async (inside) => {
    const revoked = await revokeKey(inside, { projectId, keyId, nowMs: now() });
    if (revoked === null) return;
    const subject = keyName(revoked);
    await recordAudit(inside, {
      ...askedBy(services, exchange),
      what: "key.revoke",
      subject,
      projectId,
    });
  });
  keys.invalidate();
  return new Response(null, { status: 204 });
}

/** `POST /v1/projects/:id/keys/:keyId/rotate`: 201 with the new key. A secret one is never shown again. */
export async function postKeyRotation(
  services: KeyServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, now, keys } = services;
  const { projectId } = await projectOfPath(sql, exchange);
  const { overlapSeconds } = await readJson(exchange.request, KeyRotation);
  const keyId = exchange.params.keyId ?? "";
  const created = await sql.transaction(async (inside) => {
    const made = await rotateKey(inside, { projectId, keyId, nowMs: now(), overlapSeconds });
    const subject = `${keyName(made)} in place of ${keyId}`;
    await recordAudit(inside, {
      ...askedBy(services, exchange),
      what: "key.rotate",
      subject,
      projectId,
    });
    return made;
  });
  keys.invalidate();
  const path = exchange.url.pathname.split("/").slice(0, -2).join("/");
  return json(created, 201, { "Location": `${path}/${created.id}` });
}
