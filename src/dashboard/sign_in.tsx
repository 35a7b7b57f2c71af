/// <reference lib="dom" />
import { useLayoutEffect, useRef } from "preact/hooks";
import { type AuthOffer, providerUrl, useOffer } from "./auth_offer.ts";
import { commandText } from "./command.ts";
import { callByCookie } from "./cookie_call.ts";
import { Entrance, Or } from "./entrance.tsx";
import { EntranceForm } from "./entrance_form.tsx";
import { PasswordField, TextField } from "./field.tsx";
import { Icon } from "./icons.tsx";
import { Button } from "./button.tsx";
import { ErrorNote, Skeleton } from "./panel.tsx";
import { canUsePasskeys, signInByPasskey, useDeviceSignal } from "./passkey_device.ts";
import { Refused, useRequest } from "./request_state.tsx";
import {
  isAwaited,
  lastEmail,
  outage,
  resumeSession,
  signedOutMessage,
  takeUpSession,
} from "./session.ts";
import { SignInByToken } from "./sign_in_token.tsx";
import { isTyping } from "./typing.ts";

interface Typed {
  readonly email: string;
  readonly password: string;
}

function missingOf({ email, password }: Typed): Partial<Typed> {
  return {
    ...(email.trim() === "" ? { email: "Type your e-mail address." } : {}),
    ...(password === "" ? { password: "Type your password." } : {}),
  };
}

function PasswordForm() {
  const known = lastEmail.value;
  return (
    <EntranceForm
      start={{ email: known, password: "" }}
      missingOf={missingOf}
      ask={async ({ email, password }) => {
        await callByCookie("POST", "/v1/auth/sign-in", { email: email.trim(), password });
      }}
      action="Sign in"
      busy="Signing in…"
    >
      {(field) => (
        <>
          <TextField
            {...field("email")}
            label="E-mail"
            type="email"
            autocomplete="username"
            isFirst={known === ""}
          />
          <PasswordField
            {...field("password")}
            label="Password"
            autocomplete="current-password"
            isFirst={known !== ""}
          />
        </>
      )}
    </EntranceForm>
  );
}

function PasskeyButton() {
  const signal = useDeviceSignal();
  const { isBusy, problem, run } = useRequest(async () => {
    await signInByPasskey(signal);
    await takeUpSession();
  });
  return (
    <div class="stack-wide">
      <Button icon="key" disabled={isBusy} onClick={run}>
        {isBusy ? "Waiting for your device…" : "Sign in with a passkey"}
      </Button>
      <Refused problem={problem} />
    </div>
  );
}

interface ProviderProps {
  readonly name: string;
  readonly href: string;
  /** Opens a new tab, so that this page stays. */
  readonly isApart?: boolean;
}

/** The link to the identity provider's sign-in page. */
export function ProviderButton({ name, href, isApart = false }: ProviderProps) {
  return (
    <a class="button" href={href} target={isApart ? "_blank" : undefined}>
      <Icon name="person" /> Continue with {name}
      {isApart && " in a new tab"}
    </a>
  );
}

function NoOwner() {
  return (
    <div class="settings-stack">
      <p>Nobody has an account on this server yet.</p>
      <p>
        Open the link that the server printed as it started: it makes the owner's account. Without a
        terminal it is in the file <code>first-sign-in</code> of{" "}
        <code>DATA_DIR</code>. Each start makes a new one.
      </p>
    </div>
  );
}

function Ways({ offer }: { offer: AuthOffer }) {
  const { ownerExists, password, oidc } = offer;
  const hasPasskeys = offer.passkeys && canUsePasskeys();
  if (!password && oidc === null && !hasPasskeys) {
    return <p>Your identity provider makes the tokens that this server takes. Sign in with one.</p>;
  }
  if (!ownerExists) return <NoOwner />;
  return (
    <>
      {password && <PasswordForm />}
      {password && (hasPasskeys || oidc !== null) && <Or />}
      {hasPasskeys && <PasskeyButton />}
      {oidc !== null && (
        <ProviderButton name={oidc.name} href={providerUrl()} isApart={isAwaited.value} />
      )}
      {password && (
        <details class="sign-in-more">
          <summary>Forgot your password?</summary>
          <div class="stack-wide">
            <p>
              Ask an owner for a link to a new one: they find it in <em>Settings</em>,{" "}
              <em>People</em>. An owner makes it on the machine that the server runs on:
            </p>
            <pre class="code code-wrap"><code>{commandText("person reset you@example.com")}</code></pre>
          </div>
        </details>
      )}
    </>
  );
}

function Offered({ problem, retry, offer }: ReturnType<typeof useOffer>) {
  if (problem !== null) return <ErrorNote problem={problem} onRetry={retry} />;
  return offer === null ? <Skeleton rows={4} /> : <Ways offer={offer} />;
}

/** The sign-in page: what happened, and the ways to sign in. */
export function SignIn() {
  const asked = useOffer();
  const note = isAwaited.value && isTyping() ? " What you were typing is kept until then." : "";
  const isOwnerless = asked.offer?.ownerExists === false;
  return (
    <Entrance
      title={isOwnerless ? "Welcome to Footfall" : "Sign in"}
      message={signedOutMessage.value && signedOutMessage.value + note}
    >
      <Offered {...asked} />
      <details class="sign-in-more" open={asked.offer?.password === false && !asked.offer.oidc}>
        <summary>Sign in with a token</summary>
        <SignInByToken />
      </details>
    </Entrance>
  );
}

/** The page while it is unknown whether somebody is signed in. */
export function Outage() {
  return (
    <Entrance title="One moment, please">
      <ErrorNote problem={outage.value} onRetry={() => void resumeSession()} />
    </Entrance>
  );
}

/** Either page as a dialog above a form that somebody was filling in, until they are signed in again. */
export function SignInAbove() {
  const above = useRef<HTMLDialogElement>(null);
  // The field has the focus until the dialog is shown, which is after the first rendering.
  const typed = useRef(document.activeElement);
  // An open dialog below would keep the focus although it is hidden.
  useLayoutEffect(() => {
    const shown = above.current!;
    shown.showModal();
    return () => {
      shown.close();
      if (typed.current instanceof HTMLElement) typed.current.focus();
    };
  }, []);
  return (
    <dialog
      ref={above}
      class="sign-in-above"
      aria-label="Sign in"
      closedby="none"
      onCancel={(event) => event.preventDefault()}
    >
      {outage.value === null ? <SignIn /> : <Outage />}
    </dialog>
  );
}
