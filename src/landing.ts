const page = (basePath: string) =>
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Footfall</title>
<link rel="icon" href="data:,">
<style>
  :root { --ink: #1c2430; --muted: #566173; --line: #dfe3ea; --paper: #fff; --accent: #0b63ce; }
  @media (prefers-color-scheme: dark) {
    :root { --ink: #e8ecf3; --muted: #a3adbd; --line: #313a48; --paper: #12161d; --accent: #7db4ff; }
  }
  body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; }
  main { max-width: 36rem; margin: 0 auto; padding: 12vh 1.25rem; }
  h1 { margin: 0; font-size: 1.75rem; letter-spacing: -.01em; }
  p { color: var(--muted); margin: .5rem 0 2rem; }
  ul { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
  li { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: .75rem 0; border-bottom: 1px solid var(--line); }
  a { color: var(--accent); font-family: ui-monospace, monospace; min-width: 11rem; }
</style>
<main>
  <h1>Footfall is running</h1>
  <p>Send events to <code>POST ${basePath}/v1/events</code> with your API key; read them back with a token.</p>
  <ul>
    <li><a href="${basePath}/v1/openapi.json">/v1/openapi.json</a> every endpoint, described</li>
    <li><a href="${basePath}/readyz">/readyz</a> whether it is ready, and what is missing</li>
    <li><a href="${basePath}/metrics">/metrics</a> what it has done so far</li>
  </ul>
</main>
</html>
`;

/** `GET /`: tells a person who opens the address that the server runs, and where to go. */
export function getLanding(basePath: string): Response {
  return new Response(page(basePath), {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-cache",
      "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
      "X-Content-Type-Options": "nosniff",
    },
  });
}
