import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
} from "jose";
import {
  TOKEN_KEYS_CACHED_MS,
  TOKEN_KEYS_FETCH_MS_MAX,
  TOKEN_KEYS_PAUSE_MS,
  TOKEN_KEYS_RETRY_MS,
} from "../limits.ts";
import { Problem, retryable } from "../problem.ts";

function notFetched(cause: unknown): Problem {
  return retryable(
    "token_keys_unavailable",
    "The keys at JWT_JWKS_URL cannot be fetched, so the token cannot be checked. Try again shortly.",
    cause,
  );
}

function notFetchedSince(waitMs: number): Problem {
  return new Problem(
    "token_keys_unavailable",
    "The token is signed with a key that JWT_JWKS_URL did not have a few seconds ago. Try again shortly.",
    { headers: { "Retry-After": String(Math.ceil(waitMs / 1000)) } },
  );
}

/** Verifies tokens by an identity provider's key set. */
export interface RemoteKeys {
  /**
   * Throws what `jwtVerify` does. It says that no key of the set has signed the token only if a fetch that began
   * after the call says so; `token_keys_unavailable` (503): that is not known.
   */
  verify(token: string, options: JWTVerifyOptions): Promise<JWTVerifyResult>;
}

/** Whether a new set may have the key of a token. Without a key id, its key may have replaced the one that was tried. */
function mayBeNew(error: unknown, token: string): boolean {
  return error instanceof errors.JWKSNoMatchingKey ||
    (error instanceof errors.JWSSignatureVerificationFailed &&
      decodeProtectedHeader(token).kid === undefined);
}

/** A key set and the fetches of it. @param clockMs a clock that is never set */
class KeySet {
  readonly keys: ReturnType<typeof createRemoteJWKSet>;
  /** When the fetch of the set that is used began. */
  fetchedAtMs = -Infinity;
  #beganAtMs = -Infinity;
  #pausedUntilMs = -Infinity;
  /** Until when nothing is fetched after a fetch that failed, and why it did. */
  #failed: { readonly untilMs: number; readonly cause: unknown } | null = null;

  constructor(jwksUrl: string, private readonly clockMs: () => number) {
    this.keys = createRemoteJWKSet(new URL(jwksUrl), {
      timeoutDuration: TOKEN_KEYS_FETCH_MS_MAX,
      cacheMaxAge: TOKEN_KEYS_CACHED_MS,
      // It never fetches the set for an unknown key by itself: it would do so without a pause while fetches fail.
      cooldownDuration: Infinity,
      [customFetch]: (...request) => {
        this.#beganAtMs = clockMs();
        return fetch(...request);
      },
    });
  }

  #assertMayFetch(): void {
    const failed = this.#failed;
    if (failed !== null && failed.untilMs > this.clockMs()) throw notFetched(failed.cause);
  }

  /** Fetches the set, or waits for the fetch under way. Throws `token_keys_unavailable`. */
  async fetch(): Promise<void> {
    if (!this.keys.reloading) this.#assertMayFetch();
    // It has begun when this returns; another one may begin before this goes on.
    const fetching = this.keys.reload();
    const beganAtMs = this.#beganAtMs;
    try {
      await fetching;
      this.#failed = null;
      this.fetchedAtMs = Math.max(this.fetchedAtMs, beganAtMs);
    } catch (cause) {
      this.#failed = { untilMs: this.clockMs() + TOKEN_KEYS_RETRY_MS, cause };
      throw notFetched(cause);
    }
  }

  /** As `fetch`, for a token whose key is unknown. */
  async fetchForUnknown(): Promise<void> {
    if (!this.keys.reloading) {
      const waitMs = this.#pausedUntilMs - this.clockMs();
      if (waitMs > 0) throw notFetchedSince(waitMs);
      this.#assertMayFetch();
      this.#pausedUntilMs = this.clockMs() + TOKEN_KEYS_PAUSE_MS;
    }
    await this.fetch();
  }

  /** Returns how a token's key is found. @param tried called with when the fetch of the searched set began */
  finding(tried: (fetchedAtMs: number) => void): JWTVerifyGetKey {
    return async (header, token) => {
      if (!this.keys.fresh) await this.fetch();
      try {
        tried(this.fetchedAtMs);
        return await this.keys(header, token);
      } catch (error) {
        const isOfToken = error instanceof errors.JWKSNoMatchingKey ||
          error instanceof errors.JWKSMultipleMatchingKeys;
        if (isOfToken) throw error;
        // The set has a key of the token, but not one that can be used.
        throw notFetched(error);
      }
    };
  }
}

/**
 * Returns what verifies tokens by the key set at a URL. The set is fetched again if it is old, and for a token whose
 * key it does not have, since the provider may have begun to use a new one. Whoever makes up tokens does not
 * cause more than one fetch in TOKEN_KEYS_PAUSE_MS, and none within TOKEN_KEYS_RETRY_MS of one that failed.
 * @param clockMs a clock that is never set
 */
export function remoteKeys(jwksUrl: string, clockMs = () => performance.now()): RemoteKeys {
  const set = new KeySet(jwksUrl, clockMs);
  return {
    async verify(token, options) {
      const askedAtMs = clockMs();
      let triedAtMs = -Infinity;
      const find = set.finding((fetchedAtMs) => triedAtMs = fetchedAtMs);
      for (;;) {
        try {
          return await jwtVerify(token, find, options);
        } catch (error) {
          if (triedAtMs >= askedAtMs || !mayBeNew(error, token)) throw error;
        }
        await set.fetchForUnknown();
      }
    },
  };
}
