/** The claims that the page reads from a token by itself; the server checks it. */
export interface TokenClaims {
  /** The token's lifetime, by the clock of the server that issued it; null: not readable. */
  readonly lifetimeMs: number | null;
  /** Whether it is valid for every project, including future ones. */
  readonly isForEveryProject: boolean;
  /** Identifies its permissions: another text means other scopes or projects. */
  readonly powers: string;
}

const UNREADABLE: TokenClaims = { lifetimeMs: null, isForEveryProject: true, powers: "" };

/** The claims of a JSON Web Token, unverified. */
export function claimsOf(token: string): TokenClaims {
  try {
    const middle = token.split(".")[1]!.replace(/-/g, "+").replace(/_/g, "/");
    const bytes = Uint8Array.from(atob(middle), (each) => each.charCodeAt(0));
    const { iat, exp, sub, scope, projects } = JSON.parse(new TextDecoder().decode(bytes));
    return {
      lifetimeMs: typeof iat === "number" && typeof exp === "number" ? (exp - iat) * 1000 : null,
      isForEveryProject: projects.includes("*"),
      powers: JSON.stringify([sub, scope, projects]),
    };
  } catch {
    return UNREADABLE;
  }
}
