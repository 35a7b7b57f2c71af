/** How people sign in to the dashboard after a start. */
export type SignIn =
  /** There is no owner yet: the link makes one. */
  | { readonly kind: "setup"; readonly link: string }
  /** With their accounts. */
  | { readonly kind: "people" }
  /** An identity provider issues the tokens. */
  | { readonly kind: "elsewhere" };

export interface Started {
  readonly url: string;
  readonly signIn: SignIn;
  /** The command line that starts this program, as the person at the terminal types it. */
  readonly footfall: string;
  /** Whether commands need DATABASE_URL. It is never printed, because it may contain a password. */
  readonly needsUrl: boolean;
  readonly project: string;
  /** The key of a new project; `isOurs`: this start made it, and it was not configured. */
  readonly firstKey: { readonly key: string; readonly isOurs: boolean } | null;
}

/** A short user agent that does not count as a bot, as curl's own does. */
export const EXAMPLE_AGENT = "Mozilla/5.0 Firefox/140.0";

function dashboardText({ url, signIn, footfall }: Started): string {
  switch (signIn.kind) {
    case "setup":
      return `Make your account, the owner's (once, within 24 hours; each start prints a new link):

  ${signIn.link}

Without an account, a link that opens the dashboard:  ${footfall} token --link`;
    case "people":
      return `Open the dashboard: ${url}/`;
    case "elsewhere":
      return `Open the dashboard: ${url}/
Sign in with a token of your identity provider.`;
  }
}

/** Returns the command that prints a token and nothing else, for use within another command. */
function tokenCommand(footfall: string): string {
  return `${footfall.replace(/ task /, " task --quiet ")} token`;
}

/**
 * Returns commands for a newcomer to paste. They contain the event's id, so that pasting them twice shows a
 * duplicate.
 */
function newcomerText({ url, footfall, project, firstKey, signIn }: Started): string {
  if (firstKey === null) return "";
  const { key, isOurs } = firstKey;
  const event = {
    eventId: crypto.randomUUID(),
    name: "page_view",
    url: "https://example.com/hello",
  };
  const own = isOurs ? `Your first API key (public): ${key}\n\n` : "";
  const read = signIn.kind === "elsewhere" ? "" : `
Read it back:

  curl '${url}/v1/events?project=${project}' \\
    -H "Authorization: Bearer $(${tokenCommand(footfall)})"
`;
  return `
${own}Send an event (-A: what curl says of itself counts as a bot):

  curl ${url}/v1/events -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' \\
    -A '${EXAMPLE_AGENT}' \\
    -d '${JSON.stringify({ events: [event] })}'
${read}
Fill it with a demo shop:  ${footfall} seed
`;
}

const NEEDS_URL = `
Commands need the server's own settings: DATABASE_URL, and others that it was started with.
`;

/** Returns the text that a start prints on standard output. */
export function startBanner(started: Started): string {
  const commands = `${dashboardText(started)}\n${newcomerText(started)}`;
  const needsUrl = started.needsUrl && commands.includes(started.footfall);
  return `
Footfall is running at ${started.url}

${commands}${needsUrl ? NEEDS_URL : ""}`;
}
