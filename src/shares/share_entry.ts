import { z } from "zod";
import { boundOf, boundOfAll, judgeWithin } from "../auth/people/attempts.ts";
import { isPassword } from "../auth/people/passwords.ts";
import { PASSWORD_LENGTH_MAX } from "../auth/people/people_limits.ts";
import { ProjectShown, requireProject } from "../auth/projects.ts";
import type { Tokens } from "../auth/tokens.ts";
import type { Sql } from "../db/sql.ts";
import { readJsonOfAnyone } from "../http/json_body.ts";
import { json } from "../http/reply.ts";
import type { Exchange } from "../http/router.ts";
import { Problem } from "../problem.ts";
import { FiltersSchema } from "../query/filters.ts";
import type { LiveShares } from "./live_shares.ts";
import { hashingFor } from "./share_hashes.ts";
import { SHARE_ATTEMPTS_MAX, SHARE_ATTEMPTS_OF_ALL_MAX, SHARE_TOKEN_S } from "./share_limits.ts";
import { SHARE_VIEWS } from "./share_views.ts";
import type { Share } from "./shares.ts";

export interface ShareEntryServices {
  readonly sql: Sql;
  readonly tokens: Tokens;
  readonly shares: Pick<LiveShares, "find">;
  readonly now: () => number;
  readonly clientAddress: (peer: string | null, headers: Headers) => string | null;
}

/** Body of `POST /v1/shares/:shareId/token`. */
export const ShareEntry = z.strictObject({
  password: z.string().max(PASSWORD_LENGTH_MAX, `Use at most ${PASSWORD_LENGTH_MAX} characters.`)
    .optional().meta({ description: "Where the share has one." }),
}).meta({ id: "ShareEntry" });

/** Reply of `POST /v1/shares/:shareId/token`. */
export const ShareEntered = z.object({
  token: z.string().meta({ description: "A token of the scope `aggregates`, for 15 minutes." }),
  expiresAt: z.iso.datetime(),
  share: z.object({
    title: z.string(),
    views: z.array(z.enum(SHARE_VIEWS)),
    filters: FiltersSchema,
    minimumVisitors: z.int(),
    project: ProjectShown.pick({ id: true, name: true, timezone: true }),
  }),
}).meta({ id: "EnteredShare" });

export type ShareEntered = z.output<typeof ShareEntered>;

/**
 * Checks the password of a share, if it has one. Throws `password_required`, `invalid_password` (401),
 * `too_many_attempts` (429), `overloaded`.
 */
async function assertPassword(
  { sql, clientAddress, now }: ShareEntryServices,
  { request, peer }: Pick<Exchange<unknown>, "request" | "peer">,
  { id, projectId, passwordHash }: Share,
  password: string | undefined,
): Promise<void> {
  if (passwordHash === null) return;
  if (password === undefined) {
    throw new Problem("password_required", "This dashboard has a password.");
  }
  const trial = {
    bounds: [
      boundOf(`share ${id}`, clientAddress(peer, request.headers), SHARE_ATTEMPTS_MAX),
      boundOfAll(`share ${id}`, SHARE_ATTEMPTS_OF_ALL_MAX),
    ],
    nowMs: now(),
    isFailure: (error: unknown) => error instanceof Problem && error.code === "invalid_password",
  };
  await judgeWithin(sql, trial, async () => {
    if (await hashingFor(projectId, () => isPassword(password, passwordHash, null))) return;
    throw new Problem("invalid_password", "This is not the password of this dashboard.");
  });
}

/** Throws `conflict` if an identity provider issues the tokens: shares are read with tokens of our own. */
export function assertCanShare({ canIssue }: Pick<Tokens, "canIssue">): void {
  if (canIssue) return;
  throw new Problem(
    "conflict",
    "This server shares no dashboards: its tokens are those of an identity provider (JWT_JWKS_URL " +
      "or JWT_PUBLIC_KEY), which knows nobody who comes by a link alone.",
  );
}

/**
 * `POST /v1/shares/:shareId/token`: a token for the page of a share, and what the page shows, for anybody with the
 * link and, if there is one, the password. Throws `not_found`, also for a share that has ended, and as
 * `assertCanShare` and `assertPassword` do.
 */
export async function postShareToken(
  services: ShareEntryServices,
  { request, peer, params }: Pick<Exchange<unknown>, "request" | "peer" | "params">,
): Promise<Response> {
  const { sql, tokens, shares } = services;
  assertCanShare(tokens);
  const { password } = await readJsonOfAnyone(request, ShareEntry);
  const share = await shares.find(params.shareId ?? "");
  if (share === null) {
    throw new Problem("not_found", "There is no such shared dashboard, or it has ended.");
  }
  await assertPassword(services, { request, peer }, share, password);
  const { id, epoch, title, views, filters, minimumVisitors, expiresAtMs } = share;
  const token = await tokens.issue({
    subject: `share ${title}`,
    projects: [share.project],
    scopes: ["aggregates"],
    ttlSeconds: SHARE_TOKEN_S,
    ...expiresAtMs === null ? {} : { expiresByMs: expiresAtMs },
    share: { id, epoch },
  });
  const { expiresAtMs: endsAtMs } = await tokens.verify(token);
  const { name, timezone } = await requireProject(sql, share.project);
  return json({
    token,
    expiresAt: new Date(endsAtMs).toISOString(),
    share: {
      title,
      views,
      filters,
      minimumVisitors,
      project: { id: share.project, name, timezone },
    },
  });
}
