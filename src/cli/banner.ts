import { FIRST_TOKEN_S } from "../limits.ts";

/** What a person can do about the dashboard after a start. */
export type SignIn =
  /** A link that signs in; shown to a person at a terminal alone. */
  | { readonly kind: "link"; readonly link: string }
  /** The file that holds such a link. */
  | { readonly kind: "file"; readonly path: string }
  /** Somebody has signed in before: they make links with a command. */
  | { readonly kind: "command" }
  /** Tokens are an identity provider's. */
  | { readonly kind: "elsewhere" };

export interface Started {
  readonly url: string;
  readonly signIn: SignIn;
  /** How the person at the terminal types a command of ours. */
  readonly footfall: string;
  readonly project: string;
  /** The key that this start made or was given for a new project. */
  readonly firstKey: { readonly key: string; readonly isOurs: boolean } | null;
}

/** Short, and not a bot's: what curl says of itself would be. */
export const EXAMPLE_AGENT = "Mozilla/5.0 Firefox/140.0";

function dashboardText({ url, signIn, footfall }: Started): string {
  const days = FIRST_TOKEN_S / 86_400;
  switch (signIn.kind) {
    case "link":
      return `Open the dashboard, signed in (for ${days} days; then: ${footfall} token --link):

  ${signIn.link}`;
    case "file":
      return `Open the dashboard: ${url}/

A link that opens it signed in (for ${days} days; then: ${footfall} token --link) is in

  ${signIn.path}`;
    case "command":
      return `Open the dashboard: ${url}/
Sign in with a link of:  ${footfall} token --link`;
    case "elsewhere":
      return `Open the dashboard: ${url}/
Sign in with a token of your identity provider.`;
  }
}

/** `footfall token` in the middle of another command: its own words must not mix with the token. */
function tokenCommand(footfall: string): string {
  return `${footfall.replace(/ task /, " task --quiet ")} token`;
}

/**
 * What a newcomer pastes. The event's id is made here, so that pasting twice shows a duplicate.
 */
function newcomerText({ url, footfall, project, firstKey, signIn }: Started): string {
  if (firstKey === null) return "";
  const { key, isOurs } = firstKey;
  const event = {
    eventId: crypto.randomUUID(),
    name: "page_view",
    url: "https://example.com/hello",
  };
  const own = isOurs ? `Your first API key (public, shown only now): ${key}\n\n` : "";
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

/** What a start prints on standard output. */
export function startBanner(started: Started): string {
  return `
Footfall is running at ${started.url}

${dashboardText(started)}
${newcomerText(started)}`;
}
