/**
 * Ends one person's messages of one digest or alert. The link in a mail shows a page with a button, since mail
 * scanners open every link; the mail program's own button posts at once (RFC 8058).
 */

import { recordAudit } from "../audit/audit.ts";
import type { Sealer } from "../auth/sealed_value.ts";
import type { Sql } from "../db/sql.ts";
import type { Exchange } from "../http/router.ts";
import { Problem } from "../problem.ts";
import { dropWaiting } from "./deliveries.ts";
import { escaped } from "./mail_html.ts";
import { ALERTS, DIGESTS, removeReceiver } from "./notification_store.ts";
import { openUnsubscription, type Unsubscription } from "./unsubscribe_link.ts";

export interface UnsubscribeServices {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly now: () => number;
  readonly clientAddress: (peer: string | null, headers: Headers) => string | null;
}

/** A request for the link of a mail, which needs no token. */
type LinkExchange = Pick<Exchange<unknown>, "request" | "url" | "peer">;

const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; " +
  "frame-ancestors 'none'";
const STYLE =
  "body{font:17px/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem}" +
  "button{font:inherit;padding:.5rem 1rem}";

function page(title: string, content: string): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${content}
</body>
</html>
`;
  return new Response(html, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-store",
      "Content-Security-Policy": POLICY,
      "Referrer-Policy": "no-referrer",
    },
  });
}

/** Opens the link's token. Throws `invalid_link`. */
async function unsubscriptionOf(
  { sql, sealer }: UnsubscribeServices,
  { url }: LinkExchange,
): Promise<Unsubscription & { readonly projectId: number }> {
  const of = await openUnsubscription(sealer, url.searchParams.get("token") ?? "");
  const [project] = of === null ? [] : await sql.query<{ project_id: number }>(
    "SELECT project_id FROM projects WHERE public_id = $1::text",
    [of.project],
  );
  if (of !== null && project !== undefined) return { ...of, projectId: project.project_id };
  throw new Problem(
    "invalid_link",
    "This link is not whole, or its time is over. Ask who sends you these messages to leave you out.",
  );
}

/** `GET /v1/unsubscribe`: a page with a button that confirms it. Throws `invalid_link`. */
export async function getUnsubscribe(
  services: UnsubscribeServices,
  exchange: LinkExchange,
): Promise<Response> {
  const { slug, source, email } = await unsubscriptionOf(services, exchange);
  return page(
    "No more of these?",
    `<p>${escaped(email)} gets the ${source} “${escaped(slug)}”.</p>
<form method="post"><button>Send me no more of these</button></form>`,
  );
}

/** `POST /v1/unsubscribe`: removes the person from the receivers. Throws `invalid_link`. */
export async function postUnsubscribe(
  services: UnsubscribeServices,
  exchange: LinkExchange,
): Promise<Response> {
  const { sql, now, clientAddress } = services;
  const { projectId, source, slug, email } = await unsubscriptionOf(services, exchange);
  const kind = source === "digest" ? DIGESTS : ALERTS;
  await sql.transaction(async (tx) => {
    if (!await removeReceiver(tx, kind, { projectId, slug, email })) return;
    await dropWaiting(tx, { projectId, source, slug, receiver: email }, now());
    await recordAudit(tx, {
      who: email,
      what: "told.unsubscribe",
      subject: `${source} ${slug}`,
      projectId,
      from: clientAddress(exchange.peer, exchange.request.headers),
    });
  });
  return page("That was the last one", "<p>You get no more of these messages.</p>");
}
