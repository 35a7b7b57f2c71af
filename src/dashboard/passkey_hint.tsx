/// <reference lib="dom" />
import { Button } from "./button.tsx";
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { useOffer } from "./auth_offer.ts";
import { canUsePasskeys } from "./passkey_device.ts";
import { useRead } from "./resource.ts";
import { ViewLink } from "./view_link.tsx";

const STORAGE_KEY = "footfall.passkey-hint";

/** True after a password was typed into this page: then a passkey is suggested. */
export const typedPassword = signal(false);

function isDeclined(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) !== null;
  } catch {
    return true;
  }
}

function Hint() {
  const [isOver, setOver] = useState(isDeclined());
  const { offer } = useOffer();
  const mayHave = !isOver && offer?.passkeys === true && canUsePasskeys();
  const { data } = useRead<{ readonly passkeys: readonly unknown[] }>(
    mayHave ? "/v1/auth/passkeys" : null,
  );
  if (!mayHave || data === null || data.passkeys.length > 0) return null;
  const decline = () => {
    setOver(true);
    try {
      localStorage.setItem(STORAGE_KEY, "declined");
    } catch { /* it is asked again another time */ }
  };
  return (
    <aside class="hint" aria-label="Passkeys">
      <p>Next time sign in by fingerprint, face or PIN instead of a password.</p>
      <ViewLink class="button" to={{ view: "settings", params: { section: "account" } }}>
        Add a passkey
      </ViewLink>
      <Button kind="quiet" onClick={decline}>Not now</Button>
    </aside>
  );
}

/** Suggests a passkey to a person who has just typed a password and has no passkey. */
export function PasskeyHint() {
  return typedPassword.value ? <Hint /> : null;
}
