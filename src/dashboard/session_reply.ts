export interface SessionProject {
  readonly id: string;
  readonly name: string;
  readonly timezone: string;
  readonly siteUrl: string | null;
}

/** Who the token is: the reply of `GET /v1/session`. */
export interface Session {
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly projects: readonly SessionProject[];
  readonly expiresAt: string;
}
