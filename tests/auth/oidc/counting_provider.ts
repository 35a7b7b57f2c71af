/** What the provider says of a code, whatever the code: that it is none, an error of its own, or nonsense. */
export type CodeAnswer = "refused" | "unknown client" | "busy" | "nonsense";

/** Status and error of these answers; of nonsense there is none. */
const ERRORS: Readonly<Record<Exclude<CodeAnswer, "nonsense">, readonly [number, string]>> = {
  "refused": [400, "invalid_grant"],
  "unknown client": [400, "invalid_client"],
  "busy": [429, "too_many_requests"],
};

/** An identity provider that knows nobody, counts what it is asked, and can be slow or down. */
export class CountingProvider implements AsyncDisposable {
  discoveries = 0;
  codes = 0;
  /** How long a discovery takes. */
  slowMs = 0;
  isDown = false;
  says: CodeAnswer = "refused";
  readonly #server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) => this.#answer(new URL(request.url).pathname),
  );

  get issuer(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async #answer(path: string): Promise<Response> {
    if (path === "/token") {
      this.codes++;
      if (this.says === "nonsense") return new Response("nonsense", { status: 500 });
      const [status, error] = ERRORS[this.says];
      return Response.json({ error }, { status });
    }
    this.discoveries++;
    await new Promise((resolve) => setTimeout(resolve, this.slowMs));
    const { issuer } = this;
    return this.isDown ? new Response("down", { status: 500 }) : Response.json({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
