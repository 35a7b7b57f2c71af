import { counted } from "../../number_words.ts";
import { SITE_URL_MISSING, transient, type Verdict, verdict } from "../capture_status.ts";
import { isBotCheck } from "./bot_check.ts";
import { type PageFacts, WALL_SHARE_MIN } from "./page_facts.ts";
import { CONSENT_PHRASES, CONSENT_SEGMENTS, NOT_FOUND_PHRASES } from "./page_words.ts";
import { segmentsOf } from "../phrases.ts";
import { isNamedSignIn, isSentToSignIn, isSignInForm, placeSegments } from "./sign_in.ts";
import { hostName, isSameSite, isWeb, siteOf } from "../site_hosts.ts";

/** Hosts that a message names; the others are counted. */
const HOSTS_NAMED_MAX = 3;
/** Characters of a host in a message. */
const HOST_LENGTH_MAX = 100;
/** Redirects that browsers follow; navigations by scripts have the same limit. */
const REDIRECTS_MAX = 20;
/** How often a visit may return to the same address before it counts as a loop. */
const RETURNS_MAX = 3;
/** The most characters of a page that only asks for consent. */
const CONSENT_TEXT_MAX = 1500;
/** The most characters of a page that says it does not exist, with menu and footer; more if title and heading say so. */
const NOT_FOUND_TEXT_MAX = 1500;
const NOT_FOUND_TWICE_TEXT_MAX = 3000;
const NOT_FOUND_NUMBER = /^\s*404\s*(?:$|[^\p{L}\p{N}\s])|[-–—|:·]\s*404\s*$/u;
const HEADINGS_READ = 2;
const HTML_TYPES: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml"]);
const MEDIA_TYPE = /^[a-z0-9.+-]{1,40}\/[a-z0-9.+-]{1,60}$/;

/** A visit with its addresses parsed. */
interface Visit extends PageFacts {
  /** The requested address. */
  readonly requested: URL;
  /** Where the visit ended; null on the browser's own pages, such as those of errors: see `placeOf`. */
  readonly place: URL | null;
  /** Host name of the site. */
  readonly siteHost: string;
}

/** A rule of the decision table; null: it does not apply. */
interface Rule {
  readonly name: string;
  readonly judge: (visit: Visit) => Verdict | null;
}

/**
 * Returns the verdict that is known before a browser starts: there is no site URL, or its host is not one of the
 * hosts of the path's events, apart from `www.` and ports. Null: neither, or no host is known.
 */
export function judgeSite(siteUrl: string | null, trackedHosts: readonly string[]): Verdict | null {
  if (siteUrl === null) return SITE_URL_MISSING;
  const site = siteOf(siteUrl);
  if (site === null) {
    return verdict(
      "site_url_missing",
      "The site URL of the project cannot be read. Set one such as https://example.com.",
    );
  }
  const siteHost = site.hostname.replace(/\.$/, "");
  const hosts = [...new Set(trackedHosts.map(hostName).filter((host) => host !== null))];
  if (hosts.length === 0 || hosts.some((host) => isSameSite(host, siteHost))) return null;
  return verdict(
    "site_url_mismatch",
    `This page was visited on ${hostList(hosts)}, but the site URL of the project names ` +
      `${shown(siteHost)}. Set the site URL to the host that visitors use.`,
  );
}

function hostList(hosts: readonly string[]): string {
  const named = hosts.slice(0, HOSTS_NAMED_MAX).map(shown);
  const others = hosts.length - named.length;
  if (others > 0) named.push(counted(others, "other host"));
  const last = named.pop();
  return named.length === 0 ? last ?? "" : `${named.join(", ")} and ${last}`;
}

function shown(host: string): string {
  return host.length <= HOST_LENGTH_MAX ? host : `${host.slice(0, HOST_LENGTH_MAX)}…`;
}

/**
 * Returns why a visited page must not be captured; null: it may be. The first rule that applies decides: what the
 * network answered comes before what the page shows.
 */
export function judgePage(facts: PageFacts, site: { readonly siteUrl: string }): Verdict | null {
  const requested = URL.parse(facts.url);
  const siteHost = siteOf(site.siteUrl)?.hostname;
  if (requested === null || siteHost === undefined) {
    return verdict("not_a_page", "This page has no address that a browser could open.");
  }
  const visit = { ...facts, requested, siteHost, place: placeOf(facts, siteHost) };
  for (const { judge } of PAGE_RULES) {
    const found = judge(visit);
    if (found !== null) return found;
  }
  return null;
}

/**
 * Returns where the visit ended; null: on the browser's own page. After a redirect to another host that cannot be
 * reached it is that host, since the page sends visitors there.
 */
function placeOf({ finalUrl, netError, chain }: PageFacts, siteHost: string): URL | null {
  const shown = URL.parse(finalUrl);
  if (shown !== null && isWeb(shown)) return shown;
  if (netError === null) return null;
  // The browser shows its own error page then.
  const sentTo = chain.map((address) => URL.parse(address)).findLast((url) => url && isWeb(url));
  return sentTo && !isSameSite(sentTo.hostname, siteHost) ? sentTo : null;
}

/** The decision table: the first rule that applies decides. */
export const PAGE_RULES: readonly Rule[] = [
  { name: "blocked address", judge: blockedAddress },
  { name: "redirect loop", judge: redirectLoop },
  { name: "bot check", judge: botCheck },
  { name: "HTTP 401, 403, 407", judge: refusal },
  { name: "off the site", judge: offTheSite },
  { name: "sent to a login", judge: sentToSignIn },
  { name: "HTTP 404, 410", judge: notFound },
  { name: "temporary failure", judge: temporaryFailure },
  { name: "not a page", judge: notAPage },
  { name: "login form", judge: signInForm },
  { name: "cookie wall", judge: cookieWall },
  { name: "soft 404", judge: softNotFound },
  { name: "nothing to photograph", judge: nothingRendered },
];

function unreachable(reason: string): Verdict {
  return verdict("not_publicly_reachable", `This page is not publicly reachable: ${reason}.`);
}

function blockedAddress({ egressRefusal }: Visit): Verdict | null {
  switch (egressRefusal) {
    case "blocked_address":
      return verdict(
        "blocked_address",
        "This page leads to an address outside the public internet, which is not visited.",
      );
    case "blocked_host":
      return verdict("blocked_address", "This page leads to a host that is not visited.");
    case "blocked_port":
      return verdict(
        "blocked_address",
        "This page leads to a port that is not visited: only the usual ones and the site's own are.",
      );
    default:
      return null;
  }
}

function redirectLoop(visit: Visit): Verdict | null {
  const { chain, content, isTimedOut, netError } = visit;
  const isOver = content !== null && !isTimedOut;
  const addresses = chain.map((address) => address.replace(/#.*$/s, ""))
    // A script that sets the same route again is not a redirect.
    .filter((address, i, all) => !isOver || address !== all[i - 1]);
  const visits = new Map<string, number>();
  for (const address of addresses) visits.set(address, (visits.get(address) ?? 0) + 1);
  const returns = Math.max(0, ...visits.values());
  if (
    netError !== "net::ERR_TOO_MANY_REDIRECTS" && returns <= RETURNS_MAX &&
    addresses.length <= REDIRECTS_MAX + 1
  ) return null;
  return verdict("redirect_loop", "This page redirects in circles and never arrives anywhere.");
}

function botCheck(visit: Visit): Verdict | null {
  return isBotCheck(visit)
    ? unreachable("a bot check asks visitors to prove that they are human")
    : null;
}

function refusal({ httpStatus, netError }: Visit): Verdict | null {
  if (httpStatus === 401 || netError === "net::ERR_INVALID_AUTH_CREDENTIALS") {
    return unreachable("it answers with HTTP 401 and asks for a user name and a password");
  }
  if (httpStatus === 403) return unreachable("it answers with HTTP 403 and refuses access");
  return httpStatus === 407
    ? unreachable("it answers with HTTP 407 and asks to sign in to a proxy")
    : null;
}

function offTheSite(visit: Visit): Verdict | null {
  const { requested, place } = visit;
  if (place === null || !isAway(visit)) return null;
  // Later rules have better messages for these.
  if (isSentToSignIn(visit, requested, place) || isConsentPlace(place)) return null;
  return unreachable(`it redirects away from the site, to ${publicName(place)}`);
}

function isAway({ place, siteHost }: Visit): boolean {
  return place !== null && !isSameSite(place.hostname, siteHost);
}

/** Returns a host for a message if it is a name: addresses mean nothing to people, and may be of an inner network. */
function publicName({ hostname }: URL): string {
  const isName = /[a-z]/.test(hostname.split(".").at(-1) ?? "") && !hostname.startsWith("[");
  return isName && hostname.includes(".") ? shown(hostname.replace(/\.$/, "")) : "another host";
}

function sentToSignIn(visit: Visit): Verdict | null {
  const { requested, place } = visit;
  if (place === null || !isSentToSignIn(visit, requested, place)) return null;
  return unreachable(
    `it redirects to a login page${isAway(visit) ? ` on ${publicName(place)}` : ""}`,
  );
}

function notFound({ httpStatus }: Visit): Verdict | null {
  if (httpStatus !== 404 && httpStatus !== 410) return null;
  return verdict(
    "page_not_found",
    `There is no such page: the site answers with HTTP ${httpStatus}.`,
  );
}

function temporaryFailure(visit: Visit): Verdict | null {
  const { content, httpStatus, netError } = visit;
  if (httpStatus !== null && httpStatus >= 400) return failedStatus(httpStatus);
  if (visit.isCrashed || visit.egressRefusal !== null || otherKind(visit) !== null) return null;
  // Before a response arrives, the browser shows its own blank page.
  const isThere = content !== null && (visit.place !== null || httpStatus !== null);
  if (netError !== null && (netError !== "net::ERR_ABORTED" || !isThere)) {
    return failedNavigation(netError);
  }
  // A page that was not loaded in time is incomplete.
  if (isThere && !visit.isTimedOut) return null;
  return transient(
    visit.isTimedOut ? "The page did not load in time." : "The site did not answer with a page.",
  );
}

function failedStatus(status: number): Verdict {
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    return transient(`The site answers with HTTP ${status} at the moment.`);
  }
  return unreachable(`it answers with HTTP ${status}`);
}

/** Failures that a second attempt does not change, with their messages. */
const LASTING_FAILURES: readonly (readonly [prefix: string, message: string])[] = [
  ["net::ERR_CERT_", "The site's certificate is not valid, so the page was not opened."],
  ["net::ERR_SSL_", "No secure connection to the site can be made, so the page was not opened."],
];
/** Failures of redirects to addresses that browsers do not open as a page. */
const ODD_SCHEMES: ReadonlySet<string> = new Set([
  "net::ERR_UNKNOWN_URL_SCHEME",
  "net::ERR_DISALLOWED_URL_SCHEME",
  "net::ERR_UNSAFE_REDIRECT",
  "net::ERR_INVALID_REDIRECT",
]);
const OWN_PAGE = /^(?:about|chrome-error):$/;

function failedNavigation(netError: string): Verdict {
  const lasting = LASTING_FAILURES.find(([prefix]) => netError.startsWith(prefix));
  if (lasting !== undefined) return verdict("temporary_failure", lasting[1]);
  if (netError === "net::ERR_NAME_NOT_RESOLVED") {
    return transient("The site's host name cannot be found at the moment.");
  }
  return transient("The site cannot be reached at the moment.");
}

/** Whether the response is downloaded as a file, whatever its type. */
function isFile({ isDownload, headers }: Visit): boolean {
  return isDownload || /^\s*attachment\b/i.test(headers["content-disposition"] ?? "");
}

/** Whether the response leaves the browser on its current page. */
function isEmpty({ httpStatus }: Visit): boolean {
  return httpStatus === 204 || httpStatus === 205;
}

function notAPage(visit: Visit): Verdict | null {
  const kind = otherKind(visit);
  return kind === null ? null : verdict("not_a_page", `This address is not a page: ${kind}.`);
}

/**
 * Whether the page redirects to a scheme that other programs open (`mailto:`, `tel:`). That ends as an aborted
 * navigation, as does one without a response, whose last address is the page's or the browser's own.
 */
function leadsOutOfTheWeb({ netError, chain }: Visit): boolean {
  if (netError !== "net::ERR_ABORTED") return netError !== null && ODD_SCHEMES.has(netError);
  const sentTo = URL.parse(chain.at(-1) ?? "");
  return sentTo !== null && !isWeb(sentTo) && !OWN_PAGE.test(sentTo.protocol);
}

function otherKind(visit: Visit): string | null {
  const { httpStatus } = visit;
  if (isEmpty(visit)) return `it answers without content (HTTP ${httpStatus})`;
  if (leadsOutOfTheWeb(visit)) return "it redirects to an app or a program";
  const type = visit.contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "application/pdf") return "it is a PDF document";
  if (isFile(visit)) return "it is a file to download";
  if (type !== "" && !HTML_TYPES.has(type)) {
    return `it answers with ${MEDIA_TYPE.test(type) ? type : "another kind of content"}`;
  }
  if (visit.place === null && visit.content !== null && httpStatus !== null) {
    return "it leads to a blank window";
  }
  if (httpStatus !== null && (httpStatus < 200 || httpStatus > 299)) {
    return `it answers with HTTP ${httpStatus}`;
  }
  return null;
}

function signInForm({ requested, content }: Visit): Verdict | null {
  // A login page that was requested as such is captured like others.
  if (content === null || isNamedSignIn(requested) || !isSignInForm(content)) return null;
  return unreachable("it asks visitors to sign in");
}

const COOKIE_WALL = "a cookie wall hides it from visitors who have not agreed";

function cookieWall(visit: Visit): Verdict | null {
  const { requested, content, place } = visit;
  if (place !== null && isConsentPlace(place) && (isAway(visit) || !isConsentPlace(requested))) {
    return unreachable(COOKIE_WALL);
  }
  if (content === null) return null;
  const isWalled = content.wall !== null && content.wall.isConsent &&
    content.wall.coveredShare >= WALL_SHARE_MIN;
  const isWall = content.textLength <= CONSENT_TEXT_MAX && CONSENT_PHRASES.isIn(content.title) &&
    !CONSENT_PHRASES.isIn(wordsOf(requested));
  return isWalled || isWall ? unreachable(COOKIE_WALL) : null;
}

/** Whether an address is of a page that asks for consent. */
function isConsentPlace(url: URL): boolean {
  return url.hostname.startsWith("consent.") ||
    placeSegments(url).some((segment) => CONSENT_SEGMENTS.has(segment));
}

function wordsOf({ pathname }: URL): string {
  return segmentsOf(pathname).join(" ");
}

function softNotFound({ requested, content }: Visit): Verdict | null {
  if (content === null || content.textLength > NOT_FOUND_TWICE_TEXT_MAX) return null;
  const words = wordsOf(requested);
  // The requested page may be the site's own 404 page, or an article about it.
  if (/\b404\b/.test(words) || NOT_FOUND_PHRASES.isIn(words)) return null;
  const found = [content.title, content.headings.slice(0, HEADINGS_READ).join("\n")].filter(
    saysMissing,
  );
  if (found.length === 0) return null;
  if (found.length === 1 && content.textLength > NOT_FOUND_TEXT_MAX) return null;
  return verdict(
    "page_not_found",
    "There is no such page: what the site shows says that it was not found.",
  );
}

function saysMissing(text: string): boolean {
  return NOT_FOUND_PHRASES.isIn(text) ||
    text.split("\n").some((line) => NOT_FOUND_NUMBER.test(line));
}

function nothingRendered({ isCrashed, egressRefusal, content }: Visit): Verdict | null {
  if (isCrashed) {
    return verdict("render_failed", "The page made the browser stop while it was being drawn.");
  }
  if (egressRefusal === "too_much") {
    return verdict("render_failed", "The page sends more data than is taken for one capture.");
  }
  return content === null
    ? verdict("render_failed", "The page showed nothing to photograph.")
    : null;
}
