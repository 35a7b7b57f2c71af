/**
 * Every browser's user agent begins so, and those of most bots. What begins otherwise is a library:
 * `analytics-node/2.1`, `axios/1.7`, `node`, `python-requests/2.32`, `okhttp/4.12`.
 */
const BROWSER = /^(?:Mozilla|Opera)\//;
/** `@umami/node` calls itself `Mozilla/5.0 Umami/0.2.0`. */
const LIBRARY = /^Mozilla\/5\.0 Umami\//;

/**
 * The visitor's user agent, as far as the header tells it: on paths of other people's clients a
 * library that sends events from a server or an app is not what anybody browses with, and no bot.
 */
export function visitorAgent(headers: Headers): string | null {
  const sent = headers.get("user-agent");
  return sent !== null && BROWSER.test(sent) && !LIBRARY.test(sent) ? sent : null;
}
