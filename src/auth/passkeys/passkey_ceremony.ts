import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
  WebAuthnCredential,
} from "@simplewebauthn/server";
import { PASSKEY_CEREMONY_S_MAX } from "./passkey_limits.ts";

/** Where passkeys hold: the page's origin and its host (WebAuthn: the relying party's id). */
export interface RelyingParty {
  readonly origin: string;
  readonly host: string;
}

/** A passkey as it is kept. */
export interface StoredPasskey {
  /** Base64url, as devices name it. */
  readonly credentialId: string;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  /** How often the device says that it was used; 0 where it does not count. */
  readonly counter: number;
  readonly transports: readonly string[];
}

const NAME = "Footfall";
const TIMEOUT_MS = PASSKEY_CEREMONY_S_MAX * 1_000;
/** By what a browser reaches a device, in WebAuthn's words. */
const TRANSPORTS = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"];

/** WebAuthn itself, by a library that the first passkey loads. */
const library = () => import("@simplewebauthn/server");

/** What the browser asks the device for to make a passkey, the challenge within. */
export async function registrationOptions(
  party: RelyingParty,
  person: { readonly id: string; readonly email: string; readonly name: string },
  known: readonly Pick<StoredPasskey, "credentialId" | "transports">[],
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await library();
  return await generateRegistrationOptions({
    rpName: NAME,
    rpID: party.host,
    userName: person.email,
    userID: new TextEncoder().encode(person.id),
    userDisplayName: person.name,
    timeout: TIMEOUT_MS,
    attestationType: "none",
    excludeCredentials: known.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: [...transports],
    })),
    // It opens the account without a password: the device finds it by itself, and checks its owner.
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
}

/** The passkey that the device made for this challenge; null where the answer does not hold. */
export async function registered(
  party: RelyingParty,
  challenge: string,
  response: RegistrationResponseJSON,
): Promise<StoredPasskey | null> {
  const { verifyRegistrationResponse } = await library();
  const { verified, registrationInfo } = await holding(() =>
    verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.host,
      requireUserVerification: true,
    })
  ) ?? {};
  if (verified !== true || registrationInfo === undefined) return null;
  const { id, publicKey, counter, transports } = registrationInfo.credential;
  // As the client said them, which no signature covers: anything may stand there.
  const named: readonly unknown[] = Array.isArray(transports) ? transports : [];
  return {
    credentialId: id,
    publicKey,
    counter,
    transports: TRANSPORTS.filter((each) => named.includes(each)),
  };
}

/** What the browser asks any device for to sign in: whose it is, the device says. */
export async function signInOptions(
  party: RelyingParty,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await library();
  return await generateAuthenticationOptions({
    rpID: party.host,
    timeout: TIMEOUT_MS,
    userVerification: "required",
  });
}

/** The passkey's new counter; null where the answer does not hold, or was given before. */
export async function signedIn(
  party: RelyingParty,
  challenge: string,
  response: AuthenticationResponseJSON,
  { credentialId, publicKey, counter, transports }: StoredPasskey,
): Promise<number | null> {
  const { verifyAuthenticationResponse } = await library();
  const credential: WebAuthnCredential = {
    id: credentialId,
    publicKey,
    counter,
    transports: [...transports],
  };
  const done = await holding(() =>
    verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.host,
      credential,
      requireUserVerification: true,
    })
  );
  return done?.verified === true ? done.authenticationInfo.newCounter : null;
}

/** The library throws plain errors for answers that are forged, for elsewhere, or no answers at all. */
async function holding<T>(verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify();
  } catch {
    return null;
  }
}
