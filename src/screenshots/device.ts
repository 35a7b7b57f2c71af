import type { CDPSession, Page } from "puppeteer-core/lib/puppeteer/puppeteer-core-browser.js";
import { CAPTURE_MARK } from "../http/capture_mark.ts";
import type { CaptureDevice } from "./capture_status.ts";

/** The browser window of a class of devices. */
export interface DeviceWindow {
  readonly widthPx: number;
  readonly heightPx: number;
  /** Whether the browser claims to be on a phone. */
  readonly isMobile: boolean;
  readonly hasTouch: boolean;
}

/**
 * A CSS pixel is always one pixel of the picture. A page's viewport tag has no effect: if it makes a phone lay the
 * page out wider (980 px without the tag), that phone's clicks count as those of tablets anyway, by the width.
 */
export const DEVICE_WINDOWS: Readonly<Record<CaptureDevice, DeviceWindow>> = {
  desktop: { widthPx: 1440, heightPx: 900, isMobile: false, hasTouch: false },
  tablet: { widthPx: 820, heightPx: 1180, isMobile: false, hasTouch: true },
  mobile: { widthPx: 390, heightPx: 844, isMobile: true, hasTouch: true },
};

/** Emulates the device, and a visitor who wants no motion and no tracking. */
export async function emulateDevice(
  page: Page,
  cdp: CDPSession,
  device: CaptureDevice,
): Promise<void> {
  const { widthPx, heightPx, isMobile, hasTouch } = DEVICE_WINDOWS[device];
  const viewport = { width: widthPx, height: heightPx, hasTouch, deviceScaleFactor: 1 };
  const { userAgent, product } = await cdp.send("Browser.getVersion");
  const version = product.slice(product.indexOf("/") + 1);
  const major = version.slice(0, version.indexOf("."));
  await Promise.all([
    page.setViewport(viewport),
    cdp.send("Emulation.setUserAgentOverride", {
      userAgent: isMobile ? mobileUserAgent(major) : userAgent.replace("Headless", ""),
      acceptLanguage: "en-US,en",
      userAgentMetadata: {
        brands: [{ brand: "Chromium", version: major }, { brand: "Not?A_Brand", version: "24" }],
        fullVersionList: [{ brand: "Chromium", version }],
        platform: isMobile ? "Android" : "Linux",
        platformVersion: isMobile ? "14.0.0" : "",
        architecture: isMobile ? "" : "x86",
        model: isMobile ? "K" : "",
        mobile: isMobile,
      },
    }),
    cdp.send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-reduced-motion", value: "reduce" }],
    }),
    cdp.send("Network.setExtraHTTPHeaders", {
      headers: { "Sec-GPC": "1", "DNT": CAPTURE_MARK },
    }),
  ]);
}

function mobileUserAgent(major: string): string {
  return "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) " +
    `Chrome/${major}.0.0.0 Mobile Safari/537.36`;
}
