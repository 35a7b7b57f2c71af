import type { Page } from "puppeteer-core";

/**
 * Gives a page a device that makes and uses passkeys, by itself unless it is to wait for its owner.
 * @returns has it wait no longer for what it is asked from now on
 */
export async function addPasskeyDevice(
  page: Page,
  { isWaiting = false } = {},
): Promise<() => Promise<void>> {
  const device = await page.createCDPSession();
  await device.send("WebAuthn.enable");
  const { authenticatorId } = await device.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: !isWaiting,
    },
  });
  const set = "WebAuthn.setAutomaticPresenceSimulation";
  return async () => await device.send(set, { authenticatorId, enabled: true });
}
