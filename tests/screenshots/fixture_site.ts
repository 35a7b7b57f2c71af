import { page, type Pages } from "./fixture_answers.ts";
import { CONSENT_PAGES } from "./fixture_consent_pages.ts";
import { LAYOUT_PAGES } from "./fixture_layout_pages.ts";
import { REACH_PAGES } from "./fixture_reach_pages.ts";

const PAGES: Pages = { ...LAYOUT_PAGES, ...REACH_PAGES, ...CONSENT_PAGES };

/** A site on the loopback that counts what it is asked for. */
export class FixtureSite implements AsyncDisposable {
  /** Each request as `METHOD /path`, its headers in lower case. */
  readonly requests: { readonly line: string; readonly headers: Headers }[] = [];
  /** The server that gets what is sent below `/stats`; null: nobody does. */
  statsUrl: string | null = null;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  /** Bodies that never end are ended with the site. */
  readonly #closing = new AbortController();

  constructor() {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
      const { pathname } = new URL(request.url);
      this.requests.push({ line: `${request.method} ${pathname}`, headers: request.headers });
      if (pathname.startsWith("/stats/") && this.statsUrl !== null) {
        const { method, headers, body } = request;
        return fetch(this.statsUrl + pathname.slice("/stats".length), { method, headers, body });
      }
      return PAGES[pathname]?.(request, this.#closing.signal) ??
        page("<title>Nothing</title><h1>Not found</h1>", {}, 404);
    });
  }

  get port(): number {
    return this.#server.addr.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  reset(): void {
    this.requests.length = 0;
  }

  /** How often something was asked for; `/img*` counts every address that begins so. */
  count(line: string): number {
    const start = line.endsWith("*") ? line.slice(0, -1) : null;
    return this.requests.filter((request) =>
      start === null ? request.line === line : request.line.startsWith(start)
    ).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#server.shutdown();
  }
}
