import { match, ok, strictEqual } from "node:assert/strict";
import { CAPTURE_STATUSES, type Verdict } from "../../src/screenshots/capture_status.ts";
import type { PageContent, PageFacts } from "../../src/screenshots/verdict/page_facts.ts";
import { judgePage } from "../../src/screenshots/verdict/reachability.ts";

/** A visit that differs from a public page's in what is given. `to` is the path or address it ended at. */
export interface Given extends Partial<Omit<PageFacts, "content">> {
  readonly at?: string;
  readonly to?: string;
  readonly content?: Partial<PageContent> | null;
}

const SITE = "https://shop.example";
const PUBLIC_PAGE: PageContent = {
  title: "Tea and kettles – Shop",
  textLength: 2500,
  textStart: "Tea and kettles from all over the world",
  headings: ["Tea and kettles", "Green tea", "Black tea"],
  passwordFields: 0,
  textShareBesidePasswords: 1,
  textLengthBesidePasswords: 2500,
  wall: null,
  consent: "none",
  challengeMarks: [],
  documentHeightPx: 3000,
};

/** The facts of such a visit. */
export function factsOf({ at = "/tea", to = at, content = {}, ...given }: Given): PageFacts {
  const url = new URL(at, SITE).href;
  const finalUrl = URL.canParse(to) ? to : new URL(to, SITE).href;
  return {
    url,
    finalUrl,
    chain: url === finalUrl ? [url] : [url, finalUrl],
    httpStatus: 200,
    headers: {},
    contentType: "text/html",
    isDownload: false,
    netError: null,
    egressRefusal: null,
    isTimedOut: false,
    isCrashed: false,
    content: content === null ? null : { ...PUBLIC_PAGE, ...content },
    ...given,
  };
}

/** A page with a form for a password, and how much text stands beside it. */
export function form(title: string, beside = 0, formText = 60): Partial<PageContent> {
  return {
    title,
    headings: [title],
    textStart: title,
    textLength: beside + formText,
    passwordFields: 1,
    textLengthBesidePasswords: beside,
    textShareBesidePasswords: beside / (beside + formText),
  };
}

/** A page with little text. */
export function small(title: string, textLength = 80, headings = [title]): Partial<PageContent> {
  return { title, headings, textStart: headings.join(" "), textLength };
}

/** Nothing came: what a failed navigation leaves. */
export function failed(netError: string | null, given: Given = {}): Given {
  const none = {
    httpStatus: null,
    contentType: null,
    content: null,
    to: "chrome-error://chromewebdata/",
  };
  return { ...none, netError, ...given };
}

const reachable = (reason: string) => `not_publicly_reachable: ${reason}`;
export const SIGN_IN = reachable("it asks visitors to sign in");
export const LOGIN = reachable("it redirects to a login page");
export const HTTP_401 = reachable(
  "it answers with HTTP 401 and asks for a user name and a password",
);
export const HTTP_403 = reachable("it answers with HTTP 403 and refuses access");
export const HTTP_407 = reachable("it answers with HTTP 407 and asks to sign in to a proxy");
export const WALL = reachable("a cookie wall hides it from visitors who have not agreed");
export const BOT = reachable("a bot check asks visitors to prove that they are human");
export const AWAY = reachable("it redirects away from the site, to ");

export type Case = readonly [what: string, given: Given, judged: string | null];

export const site = { siteUrl: "https://shop.example/start" };

/** A verdict in one line: its status, a mark where it is tried again, and the reason. */
function lineOf(found: Verdict | null): string | null {
  if (found === null) return null;
  const reason = found.message.replace(/^This page is not publicly reachable: |\.$/g, "");
  return found.status === "not_publicly_reachable"
    ? `${found.status}: ${reason}`
    : found.status + (found.retry ? " again" : "");
}

/** Holds each case to what is judged. */
export function check(cases: readonly Case[]): void {
  for (const [what, given, judged] of cases) {
    const found = judgePage(factsOf(given), site);
    strictEqual(lineOf(found), judged, what);
    if (found !== null) {
      ok(CAPTURE_STATUSES.includes(found.status));
      match(found.message, /^[A-Z].*\.$/, "a sentence");
    }
  }
}

/** A layer over the page. */
export const wall = (coveredShare: number, isConsent: boolean, words: string) => ({
  wall: { text: words, coveredShare, isConsent },
});
export const text = (textLength: number) => ({ textLength });
