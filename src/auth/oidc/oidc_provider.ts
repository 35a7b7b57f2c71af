import type { Configuration, IDToken, UserInfoResponse } from "openid-client";
import {
  OIDC_CLOCK_LEEWAY_S,
  OIDC_DISCOVERY_MS_MAX,
  OIDC_REQUEST_S_MAX,
  OIDC_ROLES_MAX,
  OIDC_SUBJECT_CHARACTERS_MAX,
} from "./oidc_limits.ts";

/** The configuration of the identity provider. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client, protected only by PKCE. */
  readonly clientSecret: string | null;
  readonly scopes: string;
  /** The claim whose values name roles; null: roles are given in Footfall. */
  readonly roleClaim: string | null;
  /** The domains whose verified addresses make a person at the first sign-in. */
  readonly allowedDomains: readonly string[];
  /** The provider's name on the button. */
  readonly name: string;
}

/** Values that tie the provider's answer to the browser that began the sign-in. */
export interface OidcChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** What the provider says of the account that signed in. */
export interface OidcClaims {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  /** Whether the provider says so. Nobody signs in by an unverified address. */
  readonly isEmailVerified: boolean;
  readonly name: string | null;
  /** The values of the role claim; null: no claim is configured. */
  readonly roles: readonly string[] | null;
}

/** The provider cannot be reached, or its answer is unusable. */
export class OidcUnavailable extends Error {
  override readonly name = "OidcUnavailable";
}

/** The provider refused the sign-in, or the browser came back with the wrong values. */
export class OidcRefused extends Error {
  override readonly name = "OidcRefused";
}

export interface OidcProvider {
  /** Returns new values for one sign-in, and the provider's URL with them. Throws OidcUnavailable. */
  begin(redirectUri: string): Promise<{ url: string; checks: OidcChecks }>;
  /**
   * Redeems the code in the callback's URL at the provider, and checks state, nonce, PKCE, signature, issuer,
   * audience and time. Call `assertAnswers` first. Throws OidcUnavailable, OidcRefused.
   */
  finish(callback: URL, checks: OidcChecks): Promise<OidcClaims>;
}

/**
 * Errors of OAuth that say nothing of who signs in: the provider is out of order, or does not know this server
 * as it is configured.
 */
const OUT_OF_ORDER: ReadonlySet<string> = new Set([
  ...["server_error", "temporarily_unavailable", "invalid_client", "unauthorized_client"],
  ...["invalid_scope", "unsupported_response_type", "unsupported_grant_type"],
]);

function outOfOrder(error: string, cause?: unknown): OidcUnavailable {
  return new OidcUnavailable(`The provider answered ${error}`, { cause });
}

/**
 * Checks, without asking the provider, that a callback's URL has a code for this sign-in. Throws OidcRefused,
 * OidcUnavailable.
 */
export function assertAnswers({ searchParams }: URL, { state }: Pick<OidcChecks, "state">): void {
  if (searchParams.get("state") !== state) {
    throw new OidcRefused("The answer is to another sign-in");
  }
  const error = searchParams.get("error");
  if (error !== null && OUT_OF_ORDER.has(error)) throw outOfOrder(error);
  if (error !== null || !searchParams.get("code")) {
    throw new OidcRefused("The provider did not confirm the sign-in");
  }
}

type Client = typeof import("openid-client");

interface Discovered {
  readonly at: number;
  readonly client: Client;
  readonly config: Configuration;
}

/**
 * OpenID Connect, code flow with PKCE (RFC 7636), with `openid-client`, which is loaded at the first sign-in.
 * Signatures are checked against the keys that the provider publishes at that moment.
 */
export function createOidcProvider(settings: OidcSettings, now: () => number): OidcProvider {
  let found: Discovered | null = null;
  /** The discovery that is under way; null: none is. */
  let underWay: Promise<Discovered> | null = null;

  async function discover(): Promise<Discovered> {
    const client = await import("openid-client");
    const issuer = new URL(settings.issuer);
    const execute = [client.enableNonRepudiationChecks];
    if (issuer.protocol === "http:") execute.push(client.allowInsecureRequests);
    try {
      const config = await client.discovery(
        issuer,
        settings.clientId,
        { [client.clockTolerance]: OIDC_CLOCK_LEEWAY_S },
        settings.clientSecret === null
          ? client.None()
          : client.ClientSecretPost(settings.clientSecret),
        { execute, timeout: OIDC_REQUEST_S_MAX },
      );
      found = { at: now(), client, config };
      return found;
    } catch (cause) {
      throw new OidcUnavailable("The provider's metadata cannot be fetched", { cause });
    }
  }

  /** Returns the provider's metadata, no older than `ageMsMax`. */
  async function discovered(ageMsMax: number): Promise<Discovered> {
    if (found !== null && now() - found.at < ageMsMax) return found;
    underWay ??= discover().finally(() => underWay = null);
    return await underWay;
  }

  return {
    async begin(redirectUri) {
      const { client, config } = await discovered(OIDC_DISCOVERY_MS_MAX);
      const checks: OidcChecks = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        codeVerifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(checks.codeVerifier),
        code_challenge_method: "S256",
      });
      return { url: url.href, checks };
    },
    async finish(callback, checks) {
      // Fetched anew with the keys, which may have changed a moment ago.
      const { client, config } = await discovered(0);
      try {
        return await redeemCode(client, config, settings, callback, checks);
      } catch (cause) {
        throw failureOf(client, cause);
      }
    },
  };
}

/** Exchanges the code for the claims. Throws what the library throws. */
async function redeemCode(
  client: Client,
  config: Configuration,
  settings: OidcSettings,
  callback: URL,
  { state, nonce, codeVerifier }: OidcChecks,
): Promise<OidcClaims> {
  const tokens = await client.authorizationCodeGrant(config, callback, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: codeVerifier,
    idTokenExpected: true,
  });
  const idToken = tokens.claims()!;
  const needsMore = idToken["email"] === undefined &&
    config.serverMetadata().userinfo_endpoint !== undefined;
  const more = needsMore
    ? await client.fetchUserInfo(config, tokens.access_token, idToken.sub)
    : null;
  return claimsOf(settings, idToken, more);
}

/** Tells a refusal by the provider from an unusable answer. */
function failureOf(client: Client, cause: unknown): Error {
  if (cause instanceof client.ResponseBodyError) {
    if (OUT_OF_ORDER.has(cause.error)) return outOfOrder(cause.error, cause);
    if (cause.status === TOO_MANY_REQUESTS) return outOfOrder(String(cause.status), cause);
  }
  const isRefusal = cause instanceof client.AuthorizationResponseError ||
    cause instanceof client.ResponseBodyError ||
    cause instanceof client.ClientError && REFUSED_CODES.has(cause.code ?? "");
  return isRefusal
    ? new OidcRefused("The provider did not confirm the sign-in", { cause })
    : new OidcUnavailable("The provider's answer is unusable", { cause });
}

/** The status of a provider that this server has asked too often. */
const TOO_MANY_REQUESTS = 429;

/** Codes of oauth4webapi for answers that are well-formed but wrong: forged, replayed or too old. */
const REFUSED_CODES: ReadonlySet<string> = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
  "OAUTH_KEY_SELECTION_FAILED",
]);

/** Returns the claims of the ID token, then of the user info, if they have the documented types. */
function claimsOf(
  { roleClaim }: OidcSettings,
  idToken: IDToken,
  more: UserInfoResponse | null,
): OidcClaims {
  const claims: Record<string, unknown> = { ...more, ...idToken };
  const text = (name: string) => typeof claims[name] === "string" ? claims[name] : null;
  const { length } = idToken.sub;
  if (length === 0 || length > OIDC_SUBJECT_CHARACTERS_MAX) {
    throw new Error(
      `The subject has ${length} characters, not 1 to ${OIDC_SUBJECT_CHARACTERS_MAX}`,
    );
  }
  return {
    issuer: idToken.iss,
    subject: idToken.sub,
    email: text("email"),
    isEmailVerified: claims["email_verified"] === true,
    name: text("name") ?? text("preferred_username"),
    roles: roleClaim === null ? null : rolesIn(claims, roleClaim),
  };
}

/**
 * Returns the values of the role claim: space-separated text, or an array of texts.
 * @param path the claim's name, or a path to it such as `realm_access.roles`
 */
function rolesIn(claims: Record<string, unknown>, path: string): string[] {
  let value: unknown = claims[path];
  if (value === undefined) {
    value = claims;
    for (const part of path.split(".")) {
      value = typeof value === "object" && value !== null && Object.hasOwn(value, part)
        ? (value as Record<string, unknown>)[part]
        : undefined;
    }
  }
  const values = typeof value === "string" ? value.split(" ") : Array.isArray(value) ? value : [];
  return values.slice(0, OIDC_ROLES_MAX).filter((role) => typeof role === "string");
}
