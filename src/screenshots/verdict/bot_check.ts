import type { PageContent, PageFacts } from "./page_facts.ts";
import { folded, PhraseSet } from "../phrases.ts";

/** Headers that by themselves mean that the response is a bot check instead of the page. */
const CHALLENGE_HEADERS: Readonly<Record<string, readonly string[]>> = {
  "cf-mitigated": ["challenge"],
  "x-amzn-waf-action": ["captcha", "challenge"],
  "x-vercel-mitigated": ["challenge", "deny"],
};
/** Headers on every response behind a bot protection (DataDome, HUMAN), with which a refusal is a check. */
const GUARD_HEADERS: readonly string[] = ["x-datadome", "x-dd-b", "x-px-block"];
const GUARD_STATUSES: ReadonlySet<number | null> = new Set([403, 405, 429]);

/** Titles that only checks have. */
const CHALLENGE_TITLES: ReadonlySet<string> = new Set([
  // Cloudflare, in its languages.
  ...["just a moment", "please wait cloudflare", "attention required cloudflare"],
  ...["attention required", "nur einen moment", "einen moment bitte", "un instant", "un momento"],
  ...["um momento", "een ogenblik geduld", "ett ogonblick", "chwileczke", "один момент"],
  ...["しばらくお待ちください", "请稍候", "請稍候", "잠시만 기다리십시오", "bir dakika lutfen"],
  // HUMAN, Imperva, Sucuri, Vercel, AWS, DDoS-Guard, Anubis, and self-made checks.
  ...["access to this page has been denied", "pardon our interruption", "ddos guard"],
  ...["sucuri website firewall access denied", "vercel security checkpoint"],
  ...["human verification", "robot check", "are you a robot", "are you human", "bot verification"],
  ...["security verification", "verifying your browser", "checking your browser"],
  ...["making sure you re not a bot", "one moment please", "captcha", "security check"],
].map(folded));

/** Sentences that checks contain. */
const CHALLENGE_PHRASES = new PhraseSet([
  ...["checking your browser before accessing", "checking if the site connection is secure"],
  ...["verify you are human", "verify that you are human", "verifying you are human"],
  ...["verify you are not a robot", "prove you are human", "confirm you are human"],
  ...["needs to review the security of your connection", "press & hold to confirm"],
  ...["enable JavaScript and cookies to continue", "Incapsula incident ID"],
  ...["Please enable JS and disable any ad blocker", "unusual traffic from your computer network"],
  ...["unusual activity from your IP", "performing security verification"],
  ...["Bestätigen Sie, dass Sie ein Mensch sind", "vérifiez que vous êtes humain"],
  ...["verifica que eres un ser humano", "verifica di essere umano", "подтвердите, что вы человек"],
  ...["人間であることを確認", "确认您是真人", "사람인지 확인"],
]);
const AKAMAI_TITLE = /^access denied$/i;
const AKAMAI_REFERENCE = /\breference\s*#?\s*[0-9a-f]+(?:\.[0-9a-f]+)+/i;
/**
 * Matches marks of checks that ordinary pages also have: scripts that only observe, and invisible widgets, such as
 * reCAPTCHA's without a size.
 */
const HARMLESS_MARK =
  /\/jsd\/|\.m?js(?:[?#]|$)|SWJIYLWA|\/recaptcha\/(?!.*size=(?:normal|compact))/i;

/** The most characters of a page that is only a check. */
const CHALLENGE_TEXT_MAX = 1500;
/** The most characters of a page with a widget that is only a check; a contact form has more. */
const WIDGET_TEXT_MAX = 250;
const HEADINGS_READ = 3;
/** The statuses with which a page with a widget can be a check. */
const WIDGET_STATUSES: ReadonlySet<number | null> = new Set([null, 200, 202, 403, 405, 429, 503]);

/**
 * Whether the response is a bot check instead of the page. Headers decide by themselves; words and widgets only on a
 * page with little else, as articles quote these words and contact forms have such widgets.
 */
export function isBotCheck({ headers, httpStatus, content }: PageFacts): boolean {
  for (const [name, values] of Object.entries(CHALLENGE_HEADERS)) {
    if (values.includes(headers[name]?.trim().toLowerCase() ?? "")) return true;
  }
  if ((content?.textLength ?? 0) > CHALLENGE_TEXT_MAX) return false;
  if (GUARD_STATUSES.has(httpStatus) && GUARD_HEADERS.some((name) => headers[name] !== undefined)) {
    return true;
  }
  return content !== null && (saysChallenge(content) || isWidgetAlone(content, httpStatus));
}

function saysChallenge({ title, textStart, headings }: PageContent): boolean {
  return CHALLENGE_TITLES.has(folded(title)) ||
    CHALLENGE_PHRASES.isIn([...headings.slice(0, HEADINGS_READ), textStart].join("\n")) ||
    AKAMAI_TITLE.test(title.trim()) && AKAMAI_REFERENCE.test(textStart);
}

function isWidgetAlone(content: PageContent, httpStatus: number | null): boolean {
  return WIDGET_STATUSES.has(httpStatus) && content.passwordFields === 0 &&
    content.textLength <= WIDGET_TEXT_MAX &&
    content.challengeMarks.some((mark) => !HARMLESS_MARK.test(mark));
}
