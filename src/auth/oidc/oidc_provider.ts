import type { Configuration, IDToken, UserInfoResponse } from "openid-client";
import {
  OIDC_CLOCK_LEEWAY_S,
  OIDC_DISCOVERY_MS_MAX,
  OIDC_REQUEST_S_MAX,
  OIDC_ROLES_MAX,
  OIDC_SUBJECT_CHARACTERS_MAX,
} from "./oidc_limits.ts";

/** What the operator says of the identity provider. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client, which PKCE alone protects. */
  readonly clientSecret: string | null;
  readonly scopes: string;
  /** The claim whose values name roles; null: roles are given in Footfall. */
  readonly roleClaim: string | null;
  /** Whose verified addresses make a person at the first sign-in. */
  readonly allowedDomains: readonly string[];
  /** What the button says. */
  readonly name: string;
}

/** What ties the browser that comes back to the one that left. */
export interface OidcChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** What the provider says of who signed in. */
export interface OidcClaims {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  /** Only where the provider says so: addresses that nobody checked open nothing. */
  readonly isEmailVerified: boolean;
  readonly name: string | null;
  /** The values of the role claim; null where no claim is configured. */
  readonly roles: readonly string[] | null;
}

/** The provider is down, or its answer is none. */
export class OidcUnavailable extends Error {
  override readonly name = "OidcUnavailable";
}

/** The provider, or the browser that came back from it, said no. */
export class OidcRefused extends Error {
  override readonly name = "OidcRefused";
}

export interface OidcProvider {
  /** Fresh values for one sign-in, and where the browser goes with them. Throws OidcUnavailable. */
  begin(redirectUri: string): Promise<{ url: string; checks: OidcChecks }>;
  /**
   * Redeems the code in the address that the browser came back to: state, nonce, PKCE, signature,
   * issuer, audience and time are checked. Asks the provider: see `assertAnswers` for what need not be
   * asked. Throws OidcUnavailable and OidcRefused.
   */
  finish(callback: URL, checks: OidcChecks): Promise<OidcClaims>;
}

/**
 * Looks at the address that a browser came back to before anything is sent: it must bring a code, for this
 * very sign-in. Throws OidcRefused.
 */
export function assertAnswers({ searchParams }: URL, { state }: Pick<OidcChecks, "state">): void {
  if (searchParams.get("state") !== state) {
    throw new OidcRefused("The answer is to another sign-in");
  }
  if (searchParams.has("error") || !searchParams.get("code")) {
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
 * OpenID Connect, code flow with PKCE (RFC 7636), by `openid-client`, which is loaded with the first
 * sign-in. Signatures are checked against the keys that the provider publishes at that moment.
 */
export function createOidcProvider(settings: OidcSettings, now: () => number): OidcProvider {
  let found: Discovered | null = null;
  /** A discovery that has begun and not ended: whoever needs one meanwhile waits for it too. */
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
      throw new OidcUnavailable("The provider cannot be asked about itself", { cause });
    }
  }

  /** @param believedMs how old what is known may be */
  async function discovered(believedMs: number): Promise<Discovered> {
    if (found !== null && now() - found.at < believedMs) return found;
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
      // Anew, and its keys with it: those that it changed a moment ago are not known yet.
      const { client, config } = await discovered(0);
      try {
        return await redeemed(client, config, settings, callback, checks);
      } catch (cause) {
        throw failureOf(client, cause);
      }
    },
  };
}

/** What the provider gives for the code. Throws what the library throws. */
async function redeemed(
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

/** Whether the provider said no, or nothing that can be used. */
function failureOf(client: Client, cause: unknown): Error {
  const isRefusal = cause instanceof client.AuthorizationResponseError ||
    cause instanceof client.ResponseBodyError ||
    cause instanceof client.ClientError && REFUSED_CODES.has(cause.code ?? "");
  return isRefusal
    ? new OidcRefused("The provider did not confirm the sign-in", { cause })
    : new OidcUnavailable("The provider's answer is none", { cause });
}

/** Codes of oauth4webapi for answers that are well-formed and wrong: forged, replayed or too old. */
const REFUSED_CODES: ReadonlySet<string> = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
  "OAUTH_KEY_SELECTION_FAILED",
]);

/** The claims of both, as far as they have the documented types. */
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

/** A role claim is text, separated by spaces, or a list of texts; a path such as `realm_access.roles` leads to it. */
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
