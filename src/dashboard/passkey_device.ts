/// <reference lib="dom" />
import { useEffect, useState } from "preact/hooks";
import { ApiProblem } from "./api_problem.ts";
import { callByCookie } from "./cookie_call.ts";

/** The options for the device, from the server. */
type Options = { readonly [name: string]: unknown };

/** Whether this browser can make and use passkeys here: over HTTPS, or on localhost. */
export function canUsePasskeys(): boolean {
  return typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === "function";
}

/**
 * A signal that aborts once the component is gone. A browser that still waits for a device refuses the next
 * request for one.
 */
export function useDeviceSignal(): AbortSignal {
  const [wait] = useState(() => new AbortController());
  useEffect(() => () => wait.abort(), []);
  return wait.signal;
}

/** Describes what the device refused, and what to do. */
function deviceProblem(error: unknown, isNew: boolean): ApiProblem {
  if (error instanceof ApiProblem) return error;
  const name = error instanceof DOMException ? error.name : "";
  const detail = name === "InvalidStateError"
    ? "This device has a passkey for your account already."
    : name === "NotAllowedError"
    ? isNew
      ? "No passkey was made: you cancelled it, it took too long, or this device cannot check that it is you. Try again."
      : "No passkey was used: you cancelled it, it took too long, or this device has none for this address. Try again, or sign in otherwise."
    : isNew
    ? "This browser makes no passkeys at this address."
    : "This browser cannot use passkeys at this address. Sign in otherwise.";
  return new ApiProblem(0, "passkey_refused", detail);
}

/**
 * Asks for what the device is asked with. The reply sets a cookie with the challenge: one that comes after the next
 * one's would have that one refused, so a request that is given up is aborted.
 */
async function askOptions(path: string, signal: AbortSignal): Promise<Options | null> {
  return await callByCookie<Options>("POST", path, undefined, signal);
}

/** Makes a passkey on this device, and has the server keep it. Throws ApiProblem. */
export async function addPasskey(name: string, signal: AbortSignal): Promise<void> {
  try {
    const options = await askOptions("/v1/auth/passkeys/options", signal);
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never);
    const made = await navigator.credentials.create({ publicKey, signal }) as
      | PublicKeyCredential
      | null;
    if (made === null) throw new DOMException("", "NotAllowedError");
    await callByCookie("POST", "/v1/auth/passkeys", { name, response: made.toJSON() });
  } catch (error) {
    throw deviceProblem(error, true);
  }
}

/** Begins a session with a passkey of this device. Throws ApiProblem. */
export async function signInByPasskey(signal: AbortSignal): Promise<void> {
  try {
    const options = await askOptions("/v1/auth/passkeys/sign-in/options", signal);
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as never);
    const used = await navigator.credentials.get({ publicKey, signal }) as
      | PublicKeyCredential
      | null;
    if (used === null) throw new DOMException("", "NotAllowedError");
    await callByCookie("POST", "/v1/auth/passkeys/sign-in", { response: used.toJSON() });
  } catch (error) {
    throw deviceProblem(error, false);
  }
}
