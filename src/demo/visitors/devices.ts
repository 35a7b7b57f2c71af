import type { Random } from "./random.ts";

export type DeviceClass = "desktop" | "tablet" | "mobile";

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** One browser on one screen. */
export interface Device {
  readonly class: DeviceClass;
  readonly userAgent: string;
  readonly screen: Size;
  readonly viewport: Size;
}

interface Model extends Device {
  readonly weight: number;
}

const model = (
  weight: number,
  deviceClass: DeviceClass,
  screen: readonly [number, number],
  viewport: readonly [number, number],
  userAgent: string,
): Model => ({
  weight,
  class: deviceClass,
  screen: { width: screen[0], height: screen[1] },
  viewport: { width: viewport[0], height: viewport[1] },
  userAgent: `Mozilla/5.0 (${userAgent}`,
});

const WINDOWS = "Windows NT 10.0; Win64; x64)";
const MAC = "Macintosh; Intel Mac OS X 10_15_7)";
const KHTML = "AppleWebKit/537.36 (KHTML, like Gecko)";
const WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)";

const MODELS: readonly Model[] = [
  model(
    16,
    "desktop",
    [1920, 1080],
    [1903, 937],
    `${WINDOWS} ${KHTML} Chrome/141.0.0.0 Safari/537.36`,
  ),
  model(
    7,
    "desktop",
    [1536, 864],
    [1519, 730],
    `${WINDOWS} ${KHTML} Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0`,
  ),
  model(
    6,
    "desktop",
    [1920, 1080],
    [1903, 955],
    "Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0",
  ),
  model(7, "desktop", [1440, 900], [1440, 764], `${MAC} ${WEBKIT} Version/18.6 Safari/605.1.15`),
  model(5, "desktop", [1728, 1117], [1728, 992], `${MAC} ${KHTML} Chrome/141.0.0.0 Safari/537.36`),
  model(
    2,
    "desktop",
    [2560, 1440],
    [1440, 1280],
    "X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
  ),
  model(
    20,
    "mobile",
    [390, 844],
    [390, 664],
    `iPhone; CPU iPhone OS 18_6 like Mac OS X) ${WEBKIT} Version/18.6 Mobile/15E148 Safari/604.1`,
  ),
  model(
    5,
    "mobile",
    [430, 932],
    [430, 739],
    `iPhone; CPU iPhone OS 18_5 like Mac OS X) ${WEBKIT} Version/18.5 Mobile/15E148 Safari/604.1`,
  ),
  model(
    17,
    "mobile",
    [412, 915],
    [412, 785],
    `Linux; Android 10; K) ${KHTML} Chrome/141.0.0.0 Mobile Safari/537.36`,
  ),
  model(
    6,
    "mobile",
    [384, 832],
    [384, 703],
    `Linux; Android 15; SAMSUNG SM-S921B) ${KHTML} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
  ),
  model(
    5,
    "tablet",
    [820, 1180],
    [820, 1106],
    `iPad; CPU OS 18_5 like Mac OS X) ${WEBKIT} Version/18.5 Mobile/15E148 Safari/604.1`,
  ),
  model(
    2,
    "tablet",
    [800, 1280],
    [800, 1128],
    `Linux; Android 14; SM-X710) ${KHTML} Chrome/140.0.0.0 Safari/537.36`,
  ),
];

/** Returns a random device; common ones are more likely. */
export function pickDevice(random: Random): Device {
  return random.weighted(MODELS);
}

/** Returns a second device, of another class, for someone who browses on a phone and buys on a computer. */
export function pickOtherDevice(first: Device, random: Random): Device {
  return random.weighted(MODELS.filter((candidate) => candidate.class !== first.class));
}

const ROBOT_SCREEN: Size = { width: 1280, height: 1024 };

/** User agents of crawlers that run scripts, and so send page views. */
const ROBOT_USER_AGENTS = [
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
  "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
];

export function pickRobot(random: Random): Device {
  return {
    class: "desktop",
    userAgent: random.pick(ROBOT_USER_AGENTS),
    screen: ROBOT_SCREEN,
    viewport: ROBOT_SCREEN,
  };
}
