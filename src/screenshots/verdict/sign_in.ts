import type { PageContent, PageFacts } from "./page_facts.ts";
import {
  IDENTITY_HOSTS,
  IDENTITY_LABELS,
  SIGN_IN_PATH_PHRASES,
  SIGN_IN_PHRASES,
  SIGN_IN_SEGMENTS,
  SIGN_UP_PHRASES,
} from "./page_words.ts";
import { folded, segmentsOf } from "../phrases.ts";
import { isSameSite, isWithin } from "../site_hosts.ts";

/** Characters beside a form that leave it the page's own matter, whatever else it says. */
const BESIDE_FORM_TEXT_MAX = 200;
/** The same where title or headings ask to sign in: a menu, a footer, a picture's caption. */
const BESIDE_SIGN_IN_TEXT_MAX = 1500;
/** The share of the text beside a form below which the form is the page. */
const BESIDE_FORM_SHARE_MIN = 0.5;
/** Characters of a page that asks for a name first and for the password later. */
const STEP_TEXT_MAX = 300;
/** A page with more text and no password field is about signing in: documentation, an article. */
const SIGN_IN_TEXT_MAX = 3000;
const HEADINGS_READ = 3;
const PAGE_ENDING = /\.(?:php|html?|aspx?|jsp|jsf|do|action|cfm|cgi|pl|xhtml)$/i;

/** What is written in large: the title and the first headings. */
function largeText({ title, headings }: PageContent): string {
  return [title, ...headings.slice(0, HEADINGS_READ)].join("\n");
}

/** The path's parts, and those of a route that scripts keep behind `#/` or `#!/`. */
export function placeSegments({ pathname, hash }: URL): string[] {
  const route = /^#!?(\/[^?]*)/.exec(hash)?.[1] ?? "";
  return [...segmentsOf(pathname), ...segmentsOf(route)]
    .map((segment) => folded(segment.replace(PAGE_ENDING, "")));
}

function isLogin(url: URL): boolean {
  return placeSegments(url).some((segment) => SIGN_IN_SEGMENTS.has(segment));
}

/** Whether an address is a login or sign-up page by its own name: then a form is what visitors see. */
export function isNamedSignIn(url: URL): boolean {
  return isLogin(url) ||
    placeSegments(url).some((segment) =>
      SIGN_IN_PHRASES.isIn(segment) || SIGN_UP_PHRASES.isIn(segment)
    );
}

/** Whether a host does nothing but ask who people are. */
export function isIdentityHost(host: string): boolean {
  return IDENTITY_HOSTS.some((known) => isWithin(host, known)) ||
    IDENTITY_LABELS.has(host.split(".")[0] ?? "") && host.split(".").length > 2;
}

/**
 * Whether the browser was sent from a page to a login. On its own site a name such as `/login` says
 * so, a vaguer one such as `/account` only with a form; elsewhere a known host does as well. A login
 * page that was asked for is a page like others: visitors see it, and it leads to no login. An
 * address with the word in a longer name, such as `/login-required`, may well lead to one.
 */
export function isSentToSignIn(facts: PageFacts, requested: URL, place: URL): boolean {
  const isAway = !isSameSite(requested.hostname, place.hostname);
  if (isAway && isIdentityHost(place.hostname)) return true;
  if (!isAway && isLogin(requested)) return false;
  if (isLogin(place)) {
    const { content } = facts;
    return content === null || content.passwordFields > 0 || content.textLength <= SIGN_IN_TEXT_MAX;
  }
  const isVague = (url: URL) => placeSegments(url).some((part) => SIGN_IN_PATH_PHRASES.isIn(part));
  // A sign-up page may stand at such an address, and have a form to sign in, too.
  if (!isAway && isNamedSignIn(requested)) return false;
  return facts.content !== null && isVague(place) && !isVague(requested) && isForm(facts.content);
}

/** Whether a form to sign in is what the page is for, or lies over all of it. */
export function isSignInForm(content: PageContent): boolean {
  return isForm(content) || content.passwordFields > 0 && content.wall !== null &&
      !content.wall.isConsent && SIGN_IN_PHRASES.isIn(content.wall.text);
}

function isForm(content: PageContent): boolean {
  const asksToSignIn = SIGN_IN_PHRASES.isIn(largeText(content));
  if (content.passwordFields === 0) {
    return SIGN_IN_PHRASES.isIn(content.title) && content.textLength <= STEP_TEXT_MAX &&
      content.headings.slice(0, HEADINGS_READ).some((heading) => SIGN_IN_PHRASES.isIn(heading));
  }
  // Anyone may fill in a form that opens an account: it is a public page.
  if (!asksToSignIn && SIGN_UP_PHRASES.isIn(largeText(content))) return false;
  const { textLengthBesidePasswords: beside, textShareBesidePasswords: share } = content;
  return beside <= BESIDE_FORM_TEXT_MAX || share < BESIDE_FORM_SHARE_MIN ||
    asksToSignIn && beside <= BESIDE_SIGN_IN_TEXT_MAX;
}
