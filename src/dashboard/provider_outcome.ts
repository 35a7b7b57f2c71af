/// <reference lib="dom" />

const AGAIN = "Try again, or sign in otherwise.";
/** Messages for the outcomes of a sign-in by the identity provider that failed. */
const SENTENCES: Readonly<Record<string, string>> = {
  unavailable:
    "Your identity provider cannot be used now. Try again in a while, or sign in otherwise.",
  refused: `Your identity provider let nobody in, or you cancelled it. ${AGAIN}`,
  expired: `This took too long, or was begun in another browser. ${AGAIN}`,
  link_over:
    "The link that you came by has expired or has been used. Sign in, or ask for a new link.",
  too_many:
    "Too many sign-ins from your network have failed. Try again in 15 minutes, or sign in otherwise.",
  no_email:
    "Your identity provider does not say your e-mail address. Ask whoever runs it to pass that on.",
  unverified:
    "Your identity provider has not verified your e-mail address. Verify it there, then try again.",
  address_taken:
    "Somebody signs in here with your e-mail address, by another account of your identity provider. Ask an owner of this server.",
  uninvited:
    "Your identity provider knows you, but nobody has invited you here. Ask an owner of this server.",
};

/** The message about a failed sign-in by the provider, removed from the address at once; null: none. */
export function takeProviderOutcome(): string | null {
  const reason = /^#provider=(\w+)$/.exec(location.hash)?.[1];
  if (reason === undefined) return null;
  history.replaceState(history.state, "", location.pathname + location.search);
  return SENTENCES[reason] ?? `You were not let in (${reason}). ${AGAIN}`;
}
