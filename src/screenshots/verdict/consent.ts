import { CAPTURE_CONSENT_GONE_MS_MAX, CAPTURE_CONSENT_RULES_MS_MAX } from "../capture_limits.ts";
import { refuseByRules } from "./consent_rules.ts";
import { asksForConsent, COOKIE_PHRASES, isRefusal } from "./consent_words.ts";
import { pause } from "../../turns/pause.ts";
import type { Deadline } from "../deadline.ts";
import { type PageContent, WALL_SHARE_MIN } from "./page_facts.ts";
import { hideLayers, layersOf, type PageLayer, pressButton } from "../page_layers.ts";
import { DocumentGone, type PageSession } from "../page_session.ts";

/** A banner that covers less may be hidden, since visitors see the page beside it. */
const HIDDEN_SHARE_MAX = 0.5;
const WALL_TEXT_LENGTH_MAX = 2_000;
const POLL_MS = 60;
/** Matches addresses, titles and ids of frames that ask for consent. */
const CONSENT_FRAME = /consent|cookie|gdpr|privacy-mgmt|cmp\b|sp_message|trustarc|quantcast/i;

function isConsent({ text, buttons, frames }: PageLayer): boolean {
  return asksForConsent(text, buttons) || frames.some((frame) => CONSENT_FRAME.test(frame));
}

/**
 * Refuses consent if a page asks for it: by a button that says so, else by the rules for known banners. It never
 * agrees. A small banner that remains is hidden, a wall stays. Throws as PageSession.run.
 */
export async function refuseConsent(
  session: PageSession,
  deadline: Deadline,
): Promise<PageContent["consent"]> {
  const layers = await layersOf(session);
  if (!layers.some(isConsent)) return "none";
  if (await refuseByButton(session, layers, deadline)) return "refused";
  const rulesMsMax = deadline.leftMs(CAPTURE_CONSENT_RULES_MS_MAX);
  try {
    const isRefused = await refuseByRules(session, rulesMsMax);
    if (isRefused && await isGone(session, deadline)) return "refused";
    // The rules may have opened a second layer with a button that refuses.
    if (await refuseByButton(session, await layersOf(session), deadline)) return "refused";
  } catch (error) {
    // Some banners reload the page after the answer.
    if (error instanceof DocumentGone) return "refused";
    throw error;
  }
  return await leaveConsent(session);
}

async function refuseByButton(
  session: PageSession,
  layers: readonly PageLayer[],
  deadline: Deadline,
): Promise<boolean> {
  for (const [i, layer] of layers.entries()) {
    const button = isConsent(layer) ? layer.buttons.findIndex(isRefusal) : -1;
    if (button === -1) continue;
    try {
      return await pressButton(session, i, button) && await isGone(session, deadline);
    } catch (error) {
      if (error instanceof DocumentGone) return true;
      throw error;
    }
  }
  return false;
}

/** Waits until nothing asks for consent any more; false: it still does. */
async function isGone(session: PageSession, deadline: Deadline): Promise<boolean> {
  const endMs = performance.now() + deadline.leftMs(CAPTURE_CONSENT_GONE_MS_MAX);
  do {
    await pause(POLL_MS);
    if (!(await layersOf(session)).some(isConsent)) return true;
  } while (performance.now() < endMs);
  return false;
}

/** Hides a small banner without answering it; a wall stays. Throws as PageSession.run. */
export async function leaveConsent(session: PageSession): Promise<"left"> {
  const layers = await layersOf(session);
  const small = layers.flatMap((layer, i) =>
    isConsent(layer) && layer.coveredShare < HIDDEN_SHARE_MAX ? [i] : []
  );
  if (wallOf(layers) === null && small.length > 0) await hideLayers(session, small);
  return "left";
}

/** Returns the layers that together cover most of the window as one wall, as a dialog and its backdrop do. */
export function wallOf(layers: readonly PageLayer[]): PageContent["wall"] {
  const coveredShare = layers.reduce((sum, layer) => sum + layer.coveredShare, 0);
  if (coveredShare < WALL_SHARE_MIN) return null;
  const onTop = layers.filter((layer) => layer.coveredShare > 0);
  const text = onTop.map((layer) => layer.text).join(" ").slice(0, WALL_TEXT_LENGTH_MAX);
  const isAsking = onTop.some(isConsent) ||
    // Some walls have no button, or only a whole sentence as one.
    onTop.some((layer) => layer.coveredShare >= WALL_SHARE_MIN && COOKIE_PHRASES.isIn(layer.text));
  return { text, coveredShare, isConsent: isAsking };
}
