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

/** The most characters beside a form with which the page is a login page, whatever its title says. */
const BESIDE_FORM_TEXT_MAX = 200;
/** The same if title or headings ask to sign in: a menu, a footer, a picture's caption. */
const BESIDE_SIGN_IN_TEXT_MAX = 1500;
/** A page with less than this share of its text beside the form is a login page. */
const BESIDE_FORM_SHARE_MIN = 0.5;
/** The most characters of a page that asks only for a name first. */
const STEP_TEXT_MAX = 300;
/** A page with more text and no password field is about signing in: documentation, an article. */
const SIGN_IN_TEXT_MAX = 3000;
const HEADINGS_READ = 3;
const PAGE_ENDING = /\.(?:php|html?|aspx?|jsp|jsf|do|action|cfm|cgi|pl|xhtml)$/i;

/** Returns the title and the first headings. */
function largeText({ title, headings }: PageContent): string {
  return [title, ...headings.slice(0, HEADINGS_READ)].join("\n");
}

/** Returns the folded segments of the path, and of a route that scripts keep after `#/` or `#!/`. */
export function placeSegments({ pathname, hash }: URL): string[] {
  const route = /^#!?(\/[^?]*)/.exec(hash)?.[1] ?? "";
  return [...segmentsOf(pathname), ...segmentsOf(route)]
    .map((segment) => folded(segment.replace(PAGE_ENDING, "")));
}

function isLogin(url: URL): boolean {
  return placeSegments(url).some((segment) => SIGN_IN_SEGMENTS.has(segment));
}

/** Whether the address itself names a login or sign-up page, where a form is what visitors expect. */
export function isNamedSignIn(url: URL): boolean {
  return isLogin(url) ||
    placeSegments(url).some((segment) =>
      SIGN_IN_PHRASES.isIn(segment) || SIGN_UP_PHRASES.isIn(segment)
    );
}

/** Whether a host is of an identity provider. */
export function isIdentityHost(host: string): boolean {
  return IDENTITY_HOSTS.some((known) => isWithin(host, known)) ||
    IDENTITY_LABELS.has(host.split(".")[0] ?? "") && host.split(".").length > 2;
}

/**
 * Whether the browser was redirected from a page to a login. A path such as `/login` is enough, a vaguer one such as
 * `/account` counts only with a form; on another site, a known host is also enough. A login page that was requested
 * is a page like any other. A longer name with the word, such as `/login-required`, may redirect to a login.
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
  // A sign-up page may have such an address, and also a form to sign in.
  if (!isAway && isNamedSignIn(requested)) return false;
  return facts.content !== null && isVague(place) && !isVague(requested) && isForm(facts.content);
}

/** Whether the page is a login form, or is covered by one. */
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
  // A sign-up form is a public page, as anyone may fill it in.
  if (!asksToSignIn && SIGN_UP_PHRASES.isIn(largeText(content))) return false;
  const { textLengthBesidePasswords: beside, textShareBesidePasswords: share } = content;
  return beside <= BESIDE_FORM_TEXT_MAX || share < BESIDE_FORM_SHARE_MIN ||
    asksToSignIn && beside <= BESIDE_SIGN_IN_TEXT_MAX;
}
