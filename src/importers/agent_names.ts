/** Converts names of browsers, systems and devices from those of other products to Footfall's. */

/** Texts that mean that there is no value. */
const NOTHING: ReadonlySet<string> = new Set([
  "",
  "(not set)",
  "(not provided)",
  "unknown",
  "unk",
  "other",
  "null",
  "<other>",
  "xx",
]);

/** Returns a text, trimmed; null: there is none, or it means that there is no value. */
export function statedText(value: unknown): string | null {
  const text = typeof value === "string" ? value.trim() : "";
  return NOTHING.has(text.toLowerCase()) ? null : text;
}

/** The first match counts, so a browser that is built on another one comes before it. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/samsung/i, "Samsung Internet"],
  [/edge|^edg/i, "Edge"],
  [/opera mini/i, "Opera"],
  [/opera|^opr$/i, "Opera"],
  [/yandex/i, "Yandex Browser"],
  [/vivaldi/i, "Vivaldi"],
  [/brave/i, "Brave"],
  [/uc ?browser/i, "UC Browser"],
  [/miui/i, "Miui"],
  [/silk/i, "Amazon Silk"],
  [/focus/i, "Focus"],
  [/duckduckgo/i, "DuckDuckGo"],
  [/google search|^gsa$/i, "Google Search"],
  [/internet explorer|^ie$|^msie$/i, "Internet Explorer"],
  [/headless/i, "Chrome Headless"],
  [/chromium(?!-webview)/i, "Chromium"],
  [/android (?:web ?view|browser|mobile)|^android$/i, "Android Browser"],
  [/chrome|crios|chromium-webview/i, "Chrome"],
  [/firefox|fxios/i, "Firefox"],
  [/safari|^ios(?:-webview)?$/i, "Safari"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/windows phone|windows mobile/i, "Windows Phone"],
  [/^windows|^win(?:\d|$)/i, "Windows"],
  [/^mac|^os x/i, "macOS"],
  [/ipad|iphone|^ios/i, "iOS"],
  [/^android/i, "Android"],
  [/chrome ?os|chromium os|^cros/i, "Chrome OS"],
  [/webos/i, "webOS"],
  [/harmony/i, "HarmonyOS"],
  [/tizen/i, "Tizen"],
  [/^(?:gnu\/)?linux|ubuntu|fedora|debian/i, "Linux"],
];

export type DeviceClass = "desktop" | "mobile" | "tablet" | "other";

const DEVICES: readonly (readonly [RegExp, DeviceClass])[] = [
  [/tablet|ipad|phablet-tablet/i, "tablet"],
  [/mobile|phone|phablet|ipod|feature/i, "mobile"],
  [/desktop|laptop|^pc$|^mac|^windows|^linux|^chrome ?os/i, "desktop"],
  [/tv|console|wearable|watch|car|speaker|camera|peripheral|player/i, "other"],
];

/** A version at the end, as in `Chrome 120.0`; it is not kept. */
const VERSION = /\s+v?\d[\d.]*$/;

function named(value: unknown, names: readonly (readonly [RegExp, string])[]): string | null {
  const text = statedText(value)?.replace(VERSION, "") ?? null;
  if (text === null) return null;
  return names.find(([pattern]) => pattern.test(text))?.[1] ?? text;
}

/** Returns the name of a browser; an unknown one stays as it is. */
export function browserName(value: unknown): string | null {
  return named(value, BROWSERS);
}

/** Returns the name of an operating system, without its version. */
export function systemName(value: unknown): string | null {
  return named(value, SYSTEMS);
}

/** Returns the class of a device; null: unknown. */
export function deviceClass(value: unknown): DeviceClass | null {
  const text = statedText(value);
  return text === null ? null : DEVICES.find(([pattern]) => pattern.test(text))?.[1] ?? null;
}

/** The shorter side of a tablet's screen has at least this many CSS pixels. */
const TABLET_PIXELS_MIN = 600;

/** Returns the class of a device by its system and, if known, its screen. */
export function deviceOfSystem(
  system: string | null,
  screen: { readonly width: number; readonly height: number } | null,
): DeviceClass | null {
  if (system === "iOS" || system === "Android" || system === "HarmonyOS") {
    const side = screen === null ? 0 : Math.min(screen.width, screen.height);
    return side >= TABLET_PIXELS_MIN ? "tablet" : "mobile";
  }
  if (system === "Windows Phone") return "mobile";
  return system === "Windows" || system === "macOS" || system === "Linux" || system === "Chrome OS"
    ? "desktop"
    : null;
}
