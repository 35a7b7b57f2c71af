import { withoutWww } from "./host.ts";
import { kindOfSource, type SourceKind } from "./source_lists.ts";

/** The facts of a session's first page view from which its source is derived. */
export interface TrafficFacts {
  readonly utmSource: string | null;
  readonly utmMedium: string | null;
  readonly utmCampaign: string | null;
  readonly utmTerm: string | null;
  readonly utmContent: string | null;
  /** Name of the click id's parameter: one of CLICK_IDS; any other is ignored. */
  readonly clickIdKind: string | null;
  /** Host of `document.referrer` in lower case, `www.` included. */
  readonly referrerHost: string | null;
  /** Host of the page itself. */
  readonly host: string | null;
}

/** Where a session came from. All but `channel`, `rule` and `referrer` are as in the link. */
export interface Traffic {
  readonly source: string | null;
  readonly medium: string | null;
  readonly campaign: string | null;
  readonly term: string | null;
  readonly content: string | null;
  /** Host without `www.`; null for the site's own hosts. */
  readonly referrer: string | null;
  readonly channel: Channel;
  /** Name of the rule in CHANNEL_RULES that decided. */
  readonly rule: string;
}

export const CHANNELS = [
  "Direct",
  "Cross-network",
  "Paid Shopping",
  "Paid Search",
  "Paid Social",
  "Paid Video",
  "Display",
  "Paid Other",
  "AI Assistants",
  "Organic Shopping",
  "Organic Social",
  "Organic Video",
  "Organic Search",
  "Referral",
  "Email",
  "Affiliates",
  "Audio",
  "SMS",
  "Mobile Push Notifications",
  "Unassigned",
] as const;
export type Channel = typeof CHANNELS[number];

interface ClickId {
  readonly source: string;
  readonly medium: string;
  /** Whether only clicks on advertisements have it. */
  readonly paid: boolean;
}

const ad = (source: string, medium = "cpc"): ClickId => ({ source, medium, paid: true });

/**
 * The source and medium that a click id stands for if the link has no tags. `dclid` comes from Google's
 * display products (Campaign Manager 360, Display & Video 360). Facebook adds `fbclid` to every outgoing link.
 */
export const CLICK_IDS: ReadonlyMap<string, ClickId> = new Map([
  ["gclid", ad("google")],
  ["gbraid", ad("google")],
  ["wbraid", ad("google")],
  ["dclid", ad("google", "display")],
  ["msclkid", ad("bing")],
  ["ttclid", ad("tiktok")],
  ["twclid", ad("twitter")],
  ["li_fat_id", ad("linkedin")],
  ["rdt_cid", ad("reddit")],
  ["sccid", ad("snapchat")],
  ["epik", ad("pinterest")],
  ["qclid", ad("quora")],
  ["yclid", ad("yandex")],
  ["fbclid", { source: "facebook", medium: "social", paid: false }],
]);

type MediumKind =
  | "none"
  | "display"
  | "ai"
  | "social"
  | "video"
  | "organic"
  | "referral"
  | "email"
  | "affiliate"
  | "audio"
  | "sms"
  | "push";

/** The media by which GA4's default channel groups recognise a channel. */
const MEDIA: ReadonlyMap<string, MediumKind> = new Map([
  ["(none)", "none"],
  ["(not set)", "none"],
  ["display", "display"],
  ["banner", "display"],
  ["expandable", "display"],
  ["interstitial", "display"],
  ["cpm", "display"],
  ["ai-assistant", "ai"],
  ["social", "social"],
  ["social-network", "social"],
  ["social-media", "social"],
  ["sm", "social"],
  ["social network", "social"],
  ["social media", "social"],
  ["organic", "organic"],
  ["referral", "referral"],
  ["app", "referral"],
  ["link", "referral"],
  ["email", "email"],
  ["e-mail", "email"],
  ["e_mail", "email"],
  ["e mail", "email"],
  ["affiliate", "affiliate"],
  ["audio", "audio"],
  ["sms", "sms"],
]);

const PAID_WORDS = new Set(["cpc", "cpm", "cpv", "cpa", "cpp", "ppc", "retargeting"]);
const NON_LETTERS = /[^\p{L}]+/u;
/** A shop or an e-shop, not a workshop; GA4 matches the same with `(([^a-df-z]|^)shop|shopping)`. */
const SHOP = /(?:^|[^a-df-z])shop|shopping/;

/** What the rules compare; texts are trimmed and in lower case. */
export interface Signals {
  readonly source: string | null;
  readonly sourceKind: SourceKind | null;
  readonly medium: string | null;
  readonly mediumKind: MediumKind | null;
  /** Whether the medium says that the click was paid for. */
  readonly paid: boolean;
  readonly campaign: string | null;
}

export interface ChannelRule {
  /** Stable: reports show it. */
  readonly rule: string;
  readonly channel: Channel;
  readonly matches: (signals: Signals) => boolean;
}

const rule = (channel: Channel, why: string, matches: ChannelRule["matches"]): ChannelRule => ({
  rule: `${channel.toLowerCase()}: ${why}`,
  channel,
  matches,
});

const namesShop = ({ campaign }: Signals): boolean => campaign !== null && SHOP.test(campaign);

/**
 * GA4's default channel groups in their order, https://support.google.com/analytics/answer/9756891; the first
 * rule that matches counts. AI assistants come between the paid and the organic channels. Webmail is a
 * referral, as in GA4.
 */
export const CHANNEL_RULES: readonly ChannelRule[] = [
  rule(
    "Direct",
    "no source, medium or campaign",
    (s) =>
      s.source === null && s.campaign === null && (s.medium === null || s.mediumKind === "none"),
  ),
  rule(
    "Direct",
    "tagged (direct)",
    (s) => s.source === "(direct)" && (s.medium === null || s.mediumKind === "none"),
  ),
  rule(
    "Cross-network",
    "campaign contains cross-network",
    (s) => s.campaign?.includes("cross-network") ?? false,
  ),
  rule("Paid Shopping", "paid click from a shopping site", paidFrom("shopping")),
  rule("Paid Shopping", "paid click, campaign names a shop", (s) => s.paid && namesShop(s)),
  rule("Paid Search", "paid click from a search engine", paidFrom("search")),
  rule("Paid Social", "paid click from a social network", paidFrom("social")),
  rule("Paid Video", "paid click from a video site", paidFrom("video")),
  rule("Display", "medium is display advertising", mediumIs("display")),
  rule("Paid Other", "paid click from any other source", (s) => s.paid),
  rule("AI Assistants", "source is an AI assistant", sourceIs("ai")),
  rule("AI Assistants", "medium is ai-assistant", mediumIs("ai")),
  rule("Organic Shopping", "source is a shopping site", sourceIs("shopping")),
  rule("Organic Shopping", "campaign names a shop", namesShop),
  rule("Organic Social", "source is a social network", sourceIs("social")),
  rule("Organic Social", "medium is social", mediumIs("social")),
  rule("Organic Video", "source is a video site", sourceIs("video")),
  rule("Organic Video", "medium contains video", mediumIs("video")),
  rule("Organic Search", "source is a search engine", sourceIs("search")),
  rule("Organic Search", "medium is organic", mediumIs("organic")),
  rule("Referral", "medium is referral, app or link", mediumIs("referral")),
  rule("Email", "source is email", (s) => s.source !== null && MEDIA.get(s.source) === "email"),
  rule("Email", "medium is email", mediumIs("email")),
  rule("Affiliates", "medium is affiliate", mediumIs("affiliate")),
  rule("Audio", "medium is audio", mediumIs("audio")),
  rule("SMS", "source is sms", (s) => s.source === "sms"),
  rule("SMS", "medium is sms", mediumIs("sms")),
  rule("Mobile Push Notifications", "source is firebase", (s) => s.source === "firebase"),
  rule("Mobile Push Notifications", "medium is push, mobile or notification", mediumIs("push")),
  rule("Unassigned", "no rule matches", () => true),
];

function sourceIs(kind: SourceKind): ChannelRule["matches"] {
  return (signals) => signals.sourceKind === kind;
}

function mediumIs(kind: MediumKind): ChannelRule["matches"] {
  return (signals) => signals.mediumKind === kind;
}

function paidFrom(kind: SourceKind): ChannelRule["matches"] {
  return (signals) => signals.paid && signals.sourceKind === kind;
}

/**
 * Returns where a session came from, by the facts of its first page view. `utm_source` decides first, then a
 * click id that only advertisements have. A link with only `utm_medium` or `utm_campaign` has no source, not
 * even from its referrer. Then comes the referrer, and then `fbclid`, which outlives the click when people pass
 * the address on. The page's host and `siteHost`, with and without `www.`, are not referrers. `source` and
 * `medium` keep the case of the tags, so that filters find what was sent; the rules ignore case. Never throws.
 */
export function classifyTraffic(facts: TrafficFacts, siteHost: string | null): Traffic {
  const clickId = CLICK_IDS.get(facts.clickIdKind ?? "") ?? null;
  const referrer = foreignReferrer(facts, siteHost);
  const { source, medium } = originOf(facts, clickId, referrer);
  const campaign = tagOf(facts.utmCampaign);
  const signals = signalsOf({ source, medium, campaign, clickId });
  const decided = CHANNEL_RULES.find(({ matches }) => matches(signals))!;
  return {
    source,
    medium,
    campaign,
    term: tagOf(facts.utmTerm),
    content: tagOf(facts.utmContent),
    referrer,
    channel: decided.channel,
    rule: decided.rule,
  };
}

function foreignReferrer(facts: TrafficFacts, siteHost: string | null): string | null {
  const referrer = withoutWww(facts.referrerHost);
  const own = referrer === withoutWww(facts.host) || referrer === withoutWww(siteHost);
  return own ? null : referrer;
}

/** Returns a tag; null if it is absent or blank. */
function tagOf(tag: string | null): string | null {
  return tag === null || tag.trim() === "" ? null : tag;
}

function originOf(
  facts: TrafficFacts,
  clickId: ClickId | null,
  referrer: string | null,
): { source: string | null; medium: string | null } {
  const source = tagOf(facts.utmSource);
  const medium = tagOf(facts.utmMedium);
  if (source !== null) {
    return { source, medium: medium ?? (clickId?.paid ? clickId.medium : null) };
  }
  if (clickId?.paid) return { source: clickId.source, medium: clickId.medium };
  if (medium !== null || tagOf(facts.utmCampaign) !== null) return { source: null, medium };
  if (referrer !== null) return { source: referrer, medium: mediumOfReferrer(referrer) };
  return { source: clickId?.source ?? null, medium: clickId?.medium ?? null };
}

function mediumOfReferrer(referrer: string): string {
  const kind = kindOfSource(referrer);
  return kind === "search" ? "organic" : kind === "social" ? "social" : "referral";
}

function signalsOf(
  { source, medium, campaign, clickId }: Pick<Traffic, "source" | "medium" | "campaign"> & {
    clickId: ClickId | null;
  },
): Signals {
  const lowerSource = lower(source);
  let lowerMedium = lower(medium);
  // A medium such as `ads`, which belongs to no channel, is replaced by that of the click id.
  if (clickId?.paid && lowerMedium !== null && !isPaid(lowerMedium)) {
    const kind = kindOfMedium(lowerMedium);
    if (kind === null || kind === "none") lowerMedium = clickId.medium;
  }
  return {
    source: lowerSource,
    sourceKind: lowerSource === null ? null : kindOfSource(lowerSource),
    medium: lowerMedium,
    mediumKind: lowerMedium === null ? null : kindOfMedium(lowerMedium),
    paid: lowerMedium !== null && isPaid(lowerMedium),
    campaign: lower(campaign),
  };
}

function lower(text: string | null): string | null {
  return text === null ? null : text.trim().toLowerCase();
}

/** Whether a medium has a whole word for paid clicks: `cpc_brand` and `paidsocial` do, `push` and `post` do not. */
function isPaid(medium: string): boolean {
  return medium.split(NON_LETTERS).some((word) => PAID_WORDS.has(word) || word.startsWith("paid"));
}

function kindOfMedium(medium: string): MediumKind | null {
  const kind = MEDIA.get(medium);
  if (kind !== undefined) return kind;
  if (medium.includes("video")) return "video";
  const push = medium.endsWith("push") || medium.includes("mobile") ||
    medium.includes("notification");
  return push ? "push" : null;
}
