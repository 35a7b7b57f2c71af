/** Answers one address of the fixture site, at the latest when that closes. */
export type Answer = (request: Request, closing: AbortSignal) => Response | Promise<Response>;
export type Pages = Readonly<Record<string, Answer>>;

/** A page with a window as wide as the device. */
export function page(body: string, headers: Record<string, string> = {}, status = 200): Response {
  const html =
    `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">` +
    `<link rel="icon" href="data:,"><title>Fixture</title><style>body{margin:0}</style>${body}`;
  return new Response(html, {
    status,
    headers: { "Content-Type": "text/html; charset=utf-8", ...headers },
  });
}

export function redirect(location: string): Response {
  return new Response(null, { status: 302, headers: { "Location": location } });
}

export const WORDS = "A paragraph of a public page that says what anybody may read. ".repeat(8);
