import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
  WebAuthnCredential,
} from "@simplewebauthn/server";
import { PASSKEY_CEREMONY_S_MAX } from "./passkey_limits.ts";

/** The site that passkeys are for: the page's origin and its host (WebAuthn: the relying party's id). */
export interface RelyingParty {
  readonly origin: string;
  readonly host: string;
}

export interface StoredPasskey {
  /** The device's name for it, in base64url. */
  readonly credentialId: string;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  /** How often it was used, by the device's own count; 0: the device does not count. */
  readonly counter: number;
  readonly transports: readonly string[];
}

const NAME = "Footfall";
const TIMEOUT_MS = PASSKEY_CEREMONY_S_MAX * 1_000;
/** How a browser reaches a device, in WebAuthn's terms. */
const TRANSPORTS = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"];

/** The WebAuthn library, which is loaded on first use. */
const library = () => import("@simplewebauthn/server");

/** Returns the options, with a challenge, for which a device makes a passkey. */
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
    // It replaces the password: the device must find it without an id, and verify its owner.
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
}

/** Verifies the passkey that a device made for this challenge; null: the answer is not valid. */
export async function verifyRegistration(
  party: RelyingParty,
  challenge: string,
  response: RegistrationResponseJSON,
): Promise<StoredPasskey | null> {
  const { verifyRegistrationResponse } = await library();
  const { verified, registrationInfo } = await nullIfInvalid(() =>
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
  // The client's own claim, which no signature covers, so it may be anything.
  const named: readonly unknown[] = Array.isArray(transports) ? transports : [];
  return {
    credentialId: id,
    publicKey,
    counter,
    transports: TRANSPORTS.filter((each) => named.includes(each)),
  };
}

/** Returns the options, with a challenge, for signing in with any passkey; the device names the passkey. */
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

/** Verifies a device's answer to this challenge. Returns the passkey's new counter; null: it is not valid. */
export async function verifySignIn(
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
  const done = await nullIfInvalid(() =>
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

/** Returns null instead of the library's errors, which mean that the answer is forged, foreign or malformed. */
async function nullIfInvalid<T>(verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify();
  } catch {
    return null;
  }
}
