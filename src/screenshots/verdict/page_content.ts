/// <reference lib="dom" />
import { CAPTURE_HEADINGS_MAX, CAPTURE_TEXT_LENGTH_MAX } from "../capture_limits.ts";
import { wallOf } from "./consent.ts";
import type { PageContent } from "./page_facts.ts";
import { isShown, layersOf } from "../page_layers.ts";
import type { PageSession } from "../page_session.ts";

/** Addresses of the frames and scripts of bot checks. */
const CHALLENGES = [
  ...["challenges\\.cloudflare\\.com", "/cdn-cgi/challenge-platform/", "hcaptcha\\.com"],
  ...["(?:google|recaptcha)\\.(?:com|net)/recaptcha", "captcha-delivery\\.com"],
  ...["perimeterx", "px-c(?:aptcha|loud|dn)", "_Incapsula_Resource", "arkoselabs\\.com"],
  ...["funcaptcha\\.com", "awswaf\\.com", "geetest\\.com", "friendlycaptcha", "anubis"],
].join("|");

/** Reads the current content of the page. Throws as PageSession.run. */
export async function readContent(
  session: PageSession,
  consent: PageContent["consent"],
): Promise<PageContent> {
  const layers = await layersOf(session);
  const read = await session.run(
    readDocument,
    [CHALLENGES, CAPTURE_TEXT_LENGTH_MAX, CAPTURE_HEADINGS_MAX],
    { using: [isShown] },
  );
  return { ...read, wall: wallOf(layers), consent };
}

/** Runs in the page. */
function readDocument(
  challenges: string,
  textLengthMax: number,
  headingsMax: number,
): Omit<PageContent, "wall" | "consent"> {
  const textOf = (element: HTMLElement | null) =>
    (element?.innerText ?? "").replace(/\s+/g, " ").trim();
  const text = textOf(document.body);
  const fields = [...document.querySelectorAll<HTMLElement>("input[type=password]")].filter(
    isShown,
  );
  // The smallest element that contains every password field, and the form or surroundings of the first one.
  let part = fields[0]?.closest("form") ?? fields[0]?.parentElement?.parentElement ?? null;
  while (part !== null && !fields.every((field) => part!.contains(field))) {
    part = part.parentElement;
  }
  const inPart = Math.min(text.length, textOf(part).length);
  const isChallenge = new RegExp(challenges, "i");
  const sources = [...document.querySelectorAll<HTMLScriptElement>("iframe[src],script[src]")]
    .map(({ src }) => src);
  return {
    title: document.title.slice(0, 500),
    textLength: text.length,
    textStart: text.slice(0, textLengthMax),
    headings: [...document.querySelectorAll<HTMLElement>("h1,h2,h3,[role=heading]")].filter(isShown)
      .slice(0, headingsMax).map((heading) => textOf(heading).slice(0, 200)),
    passwordFields: fields.length,
    textShareBesidePasswords: text.length === 0 ? 0 : (text.length - inPart) / text.length,
    textLengthBesidePasswords: text.length - inPart,
    challengeMarks: sources.filter((source) => isChallenge.test(source)).slice(0, 10)
      .map((source) => source.slice(0, 200)),
    documentHeightPx: Math.max(
      document.documentElement.scrollHeight,
      document.body?.scrollHeight ?? 0,
    ),
  };
}
