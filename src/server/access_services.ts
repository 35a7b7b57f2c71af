import { timingSafeEqual } from "node:crypto";
import {
  type ApiExchange,
  type Authorize,
  createAuthorize,
  type Principal,
} from "../auth/access.ts";
import { createLiveApiTokens } from "../auth/api_tokens/live_api_tokens.ts";
import { createOidcProvider } from "../auth/oidc/oidc_provider.ts";
import { LongReplies } from "../auth/long_replies.ts";
import { createLiveSessions } from "../auth/people/live_sessions.ts";
import { takesPasskeys } from "../auth/passkeys/passkey_endpoints.ts";
import type { PeopleServices } from "../auth/people/sign_in_endpoints.ts";
import type { SessionPlace } from "../auth/people/sessions.ts";
import { createSignedIn, type RequestFacts } from "../auth/people/signed_in.ts";
import { scopesOf } from "../auth/roles.ts";
import { createSealer } from "../auth/sealed_value.ts";
import { createTokenEpochs } from "../auth/token_epochs.ts";
import { assertOfEpoch, createTokens, type Tokens } from "../auth/tokens.ts";
import type { Config } from "../config/config.ts";
import type { Sql } from "../db/sql.ts";
import { createOwnAddress } from "../http/own_address.ts";
import { ipForStorage } from "../http/client_address.ts";
import { createLiveShares } from "../shares/live_shares.ts";
import type { Geo } from "../ingest/geo.ts";
import type { Agent } from "../ingest/user_agent.ts";

export interface AccessParts {
  readonly config: Config;
  readonly sql: Sql;
  readonly now: () => number;
  /** The process's own token, which may do everything. */
  readonly controlToken: string;
  readonly clientAddress: (peer: string | null, headers: Headers) => string | null;
  readonly geo: Pick<Geo, "locate">;
  readonly readAgent: (userAgent: string | null) => Agent;
}

/** The last instant that a Date can hold. */
const MAX_DATE_MS = 8.64e15;

const ALL_POWERFUL: Principal = {
  subject: "operator",
  scopes: new Set(scopesOf("owner")),
  projects: "*",
  expiresAtMs: MAX_DATE_MS,
};

/**
 * Checks that an accepted token is still valid, by its epoch and by what it was issued for, such as a session.
 * Throws the refusal if not.
 */
type AssertHolds = (principal: Principal) => Promise<void>;

/** Makes a function that verifies a token: it accepts the process's own, and those that `assertHolds` accepts. */
function createVerify(
  tokens: Tokens,
  controlToken: string,
  assertHolds: AssertHolds,
): Tokens["verify"] {
  const own = new TextEncoder().encode(controlToken);
  return async (token) => {
    const given = new TextEncoder().encode(token);
    if (given.length === own.length && timingSafeEqual(given, own)) return ALL_POWERFUL;
    const principal = await tokens.verify(token);
    await assertHolds(principal);
    return principal;
  };
}

/** Makes a function that describes a session to people, by the address and the user agent of a request. */
function createPlaceOf({ config, clientAddress, geo, readAgent }: AccessParts) {
  return (request: Request, peer: string | null): SessionPlace => {
    const address = clientAddress(peer, request.headers);
    const { browser, os } = readAgent(request.headers.get("user-agent"));
    const { city = null, country = null } = geo.locate(address) ?? {};
    const named = (parts: (string | null)[], between: string) =>
      parts.filter((part) => part !== null).join(between) || null;
    return {
      device: named([browser, os], " on "),
      place: named([city, country], ", "),
      address: ipForStorage(address, config.ipStorage),
    };
  };
}

/**
 * Makes a function that returns the peer of a request. Callers who may do everything may name another peer,
 * because demo data comes from many visitors.
 */
export function createPeerOf(authorize: Authorize) {
  return async ({ request, peer }: ApiExchange): Promise<string | null> => {
    const named = request.headers.get("x-footfall-peer");
    if (named === null || !request.headers.has("authorization")) return peer;
    const who = await authorize("admin", request, peer);
    return who?.projects === "*" ? named : peer;
  };
}

/** Makes the services that check tokens and cookies. */
export function createAccess(parts: AccessParts) {
  const { config, sql, now, controlToken } = parts;
  const epochs = createTokenEpochs(sql, now);
  const tokens = createTokens(config.jwt, sql, now, epochs);
  const liveSessions = createLiveSessions(sql, now);
  const liveApiTokens = createLiveApiTokens(sql, now);
  const facts: RequestFacts = {
    ownAddress: createOwnAddress(config),
    placeOf: createPlaceOf(parts),
    basePath: config.basePath,
  };
  const assertHolds: AssertHolds = async (principal) => {
    assertOfEpoch(principal, (await epochs.cached()).number);
    await liveSessions.assertHolds(principal);
    await liveApiTokens.assertHolds(principal);
  };
  const authorize = createAuthorize(
    createVerify(tokens, controlToken, assertHolds),
    createSignedIn(sql, facts, now),
  );
  const oidc = config.oidc === null
    ? null
    : { settings: config.oidc, provider: createOidcProvider(config.oidc, now) };
  const signInWays: PeopleServices["signInWays"] = {
    passkeys: ({ request, peer }) => takesPasskeys(facts.ownAddress(request, peer)),
    oidc: config.oidc,
  };
  return {
    shares: createLiveShares(sql, now),
    longReplies: new LongReplies(assertHolds),
    epochs,
    tokens,
    liveSessions,
    liveApiTokens,
    assertHolds,
    authorize,
    facts,
    signInWays,
    oidc,
    sealer: createSealer(sql, now),
  };
}
