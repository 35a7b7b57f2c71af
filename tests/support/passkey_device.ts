import type { Page } from "puppeteer-core";

/** Gives a page a device that makes and uses passkeys by itself. */
export async function addPasskeyDevice(page: Page): Promise<void> {
  const device = await page.createCDPSession();
  await device.send("WebAuthn.enable");
  await device.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
