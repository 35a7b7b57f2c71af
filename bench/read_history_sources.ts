/** What the history of the read benchmark is drawn from: the first of each list is the most frequent. */

export interface Place {
  readonly country: string;
  readonly region: string;
  readonly city: string;
  readonly locale: string;
  readonly timezone: string;
}

export interface Agent {
  readonly browser: string;
  readonly os: string;
  /** As the column `device` holds it. */
  readonly device: "d" | "t" | "m";
  readonly screenWidth: number;
  readonly screenHeight: number;
}

export interface Source {
  readonly referrer: string | null;
  readonly query: string | null;
  readonly utmSource: string | null;
  readonly utmMedium: string | null;
  readonly utmCampaign: string | null;
  readonly clickIdKind: string | null;
}

/** Country, region, city, locale, time zone. */
const PLACE_LINES = `
DE,Berlin,Berlin,de-DE,Europe/Berlin
US,New York,New York,en-US,America/New_York
DE,Bavaria,Munich,de-DE,Europe/Berlin
GB,England,London,en-GB,Europe/London
US,California,Los Angeles,en-US,America/Los_Angeles
FR,Île-de-France,Paris,fr-FR,Europe/Paris
DE,Hamburg,Hamburg,de-DE,Europe/Berlin
NL,North Holland,Amsterdam,nl-NL,Europe/Amsterdam
AT,Vienna,Vienna,de-AT,Europe/Vienna
CH,Zurich,Zurich,de-CH,Europe/Zurich
US,Illinois,Chicago,en-US,America/Chicago
ES,Madrid,Madrid,es-ES,Europe/Madrid
IT,Lombardy,Milan,it-IT,Europe/Rome
PL,Mazovia,Warsaw,pl-PL,Europe/Warsaw
SE,Stockholm,Stockholm,sv-SE,Europe/Stockholm
BR,São Paulo,São Paulo,pt-BR,America/Sao_Paulo
IN,Karnataka,Bengaluru,en-IN,Asia/Kolkata
JP,Tokyo,Tokyo,ja-JP,Asia/Tokyo
CA,Ontario,Toronto,en-CA,America/Toronto
AU,New South Wales,Sydney,en-AU,Australia/Sydney
US,Texas,Houston,en-US,America/Chicago
DK,Capital Region,Copenhagen,da-DK,Europe/Copenhagen
NO,Oslo,Oslo,nb-NO,Europe/Oslo
FI,Uusimaa,Helsinki,fi-FI,Europe/Helsinki
BE,Brussels,Brussels,nl-BE,Europe/Brussels
CZ,Prague,Prague,cs-CZ,Europe/Prague
PT,Lisbon,Lisbon,pt-PT,Europe/Lisbon
IE,Leinster,Dublin,en-IE,Europe/Dublin
GR,Attica,Athens,el-GR,Europe/Athens
HU,Budapest,Budapest,hu-HU,Europe/Budapest
RO,Bucharest,Bucharest,ro-RO,Europe/Bucharest
TR,Istanbul,Istanbul,tr-TR,Europe/Istanbul
MX,Mexico City,Mexico City,es-MX,America/Mexico_City
AR,Buenos Aires,Buenos Aires,es-AR,America/Argentina/Buenos_Aires
KR,Seoul,Seoul,ko-KR,Asia/Seoul
SG,Singapore,Singapore,en-SG,Asia/Singapore
ZA,Gauteng,Johannesburg,en-ZA,Africa/Johannesburg
NG,Lagos,Lagos,en-NG,Africa/Lagos
NZ,Auckland,Auckland,en-NZ,Pacific/Auckland
UA,Kyiv,Kyiv,uk-UA,Europe/Kyiv`;

export const PLACES: readonly Place[] = PLACE_LINES.trim().split("\n").map((line) => {
  const [country, region, city, locale, timezone] = line.split(",") as [
    string,
    string,
    string,
    string,
    string,
  ];
  return { country, region, city, locale, timezone };
});

const agent = (
  browser: string,
  os: string,
  device: Agent["device"],
  [screenWidth, screenHeight]: readonly [number, number],
): Agent => ({ browser, os, device, screenWidth, screenHeight });

export const AGENTS: readonly Agent[] = [
  agent("Chrome", "Windows", "d", [1920, 1080]),
  agent("Safari", "iOS", "m", [390, 844]),
  agent("Chrome", "Android", "m", [412, 915]),
  agent("Safari", "macOS", "d", [1440, 900]),
  agent("Edge", "Windows", "d", [2560, 1440]),
  agent("Chrome", "macOS", "d", [1728, 1117]),
  agent("Firefox", "Windows", "d", [1920, 1080]),
  agent("Samsung Internet", "Android", "m", [384, 832]),
  agent("Safari", "iOS", "t", [820, 1180]),
  agent("Firefox", "Linux", "d", [1920, 1200]),
  agent("Chrome", "Android", "t", [800, 1280]),
  agent("Opera", "Windows", "d", [1366, 768]),
];

const referred = (referrer: string): Source => ({
  referrer,
  query: null,
  utmSource: null,
  utmMedium: null,
  utmCampaign: null,
  clickIdKind: null,
});

const tagged = (
  utmSource: string,
  utmMedium: string,
  utmCampaign: string,
  clickIdKind: string | null = null,
): Source => {
  const tags = `?utm_source=${utmSource}&utm_medium=${utmMedium}&utm_campaign=${utmCampaign}`;
  const query = clickIdKind === null ? tags : `${tags}&${clickIdKind}=EAIaIQobChMI7bWm0cD2`;
  return { referrer: null, query, utmSource, utmMedium, utmCampaign, clickIdKind };
};

const DIRECT: Source = { ...referred(""), referrer: null };

export const SOURCES: readonly Source[] = [
  DIRECT,
  referred("https://www.google.com/"),
  tagged("google", "cpc", "brand", "gclid"),
  referred("https://duckduckgo.com/"),
  tagged("newsletter", "email", "spring-sale"),
  referred("https://www.bing.com/"),
  tagged("facebook", "paid_social", "retargeting", "fbclid"),
  referred("https://t.co/qXw3bS0aZ1"),
  referred("https://chatgpt.com/"),
  tagged("google", "cpc", "garden", "gclid"),
  referred("https://www.reddit.com/r/gardening/"),
  referred("https://www.youtube.com/"),
  tagged("bing", "cpc", "brand", "msclkid"),
  referred("https://blog.example/ten-garden-ideas"),
  tagged("partner", "affiliate", "autumn"),
  referred("https://www.linkedin.com/"),
  tagged("youtube", "video", "launch"),
  referred("https://www.perplexity.ai/"),
  referred("https://news.ycombinator.com/item"),
  tagged("instagram", "social", "spring-sale"),
];

const SECTIONS = ["garden-and-home", "tools-and-workshop", "kitchen-and-dining"];

/** A hundred pages; the home page gets the most visits. */
export const PATHS: readonly string[] = [
  "/",
  "/pricing",
  "/cart",
  "/checkout",
  "/account",
  ...Array.from({ length: 15 }, (_, i) => `/journal/what-to-plant-in-week-${i + 10}`),
  ...Array.from({ length: 80 }, (_, i) => `/products/${SECTIONS[i % SECTIONS.length]}/item-${i}`),
];
