/**
 * The start of every browser's user agent, and of most bots'. Others are libraries:
 * `analytics-node/2.1`, `axios/1.7`, `node`, `python-requests/2.32`, `okhttp/4.12`.
 */
const BROWSER = /^(?:Mozilla|Opera)\//;
/** Bots that do not: `Twitterbot/1.0`, `facebookexternalhit/1.1 (+http://…)`, `Baiduspider`. Cubot makes phones. */
const CRAWLER = /(?<!cu)bot\b|crawler|spider|externalhit/i;
/** `@umami/node` calls itself `Mozilla/5.0 Umami/0.2.0`. */
const LIBRARY = /^Mozilla\/5\.0 Umami\//;

/**
 * The visitor's user agent, from the header. On paths of other products' clients, that of a library which
 * sends from a server or an app is neither a browser nor a bot, and is ignored.
 */
export function visitorAgent(headers: Headers): string | null {
  const sent = headers.get("user-agent");
  if (sent === null || LIBRARY.test(sent)) return null;
  return BROWSER.test(sent) || CRAWLER.test(sent) ? sent : null;
}
