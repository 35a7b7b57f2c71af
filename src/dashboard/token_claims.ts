/** What the page reads of a token without asking the server; what it cannot read is left to that. */
export interface TokenClaims {
  /** How long the token holds, by the clock of the server that made it; null: not readable. */
  readonly lifetimeMs: number | null;
  /** True for a token that is good for every project, those of the future included. */
  readonly isForEveryProject: boolean;
  /** What it is good for: another text means other scopes or projects. */
  readonly powers: string;
}

const UNREADABLE: TokenClaims = { lifetimeMs: null, isForEveryProject: true, powers: "" };

/** The claims of a JSON Web Token, which are not verified here. */
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
