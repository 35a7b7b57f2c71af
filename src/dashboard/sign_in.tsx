/// <reference lib="dom" />
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ApiProblem } from "./api_problem.ts";
import { type AuthOffer, providerUrl, useOffer } from "./auth_offer.ts";
import { commandText } from "./command.ts";
import { callByCookie } from "./cookie_call.ts";
import { Entrance, Or } from "./entrance.tsx";
import { EntranceForm } from "./entrance_form.tsx";
import { PasswordField, TextField } from "./field.tsx";
import { Icon } from "./icons.tsx";
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
    <div class="sign-in-form">
      <button type="button" class="button" disabled={isBusy} onClick={run}>
        <Icon name="key" /> {isBusy ? "Waiting for your device…" : "Sign in with a passkey"}
      </button>
      <Refused problem={problem} />
    </div>
  );
}

interface ProviderProps {
  readonly name: string;
  readonly href: string;
  /** In a tab of its own: this page stays. */
  readonly isApart?: boolean;
}

/** Where the identity provider's own page takes over. */
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
          <div class="sign-in-form">
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

function Offered({ problem, retry, offer }: {
  offer: AuthOffer | null;
  problem: ApiProblem | null;
  retry: () => void;
}) {
  if (problem !== null) return <ErrorNote problem={problem} onRetry={retry} />;
  return offer === null ? <Skeleton rows={4} /> : <Ways offer={offer} />;
}

/** Where whoever is not signed in ends up: what happened, and how to get in. */
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

/** Whether somebody is signed in is not known. */
export function Outage() {
  return (
    <Entrance title="One moment, please">
      <ErrorNote problem={outage.value} onRetry={() => void resumeSession()} />
    </Entrance>
  );
}

/** Either above what somebody was typing, which is there again as soon as they are. */
export function SignInAbove() {
  const above = useRef<HTMLDialogElement>(null);
  // What is typed into has the focus until the dialog is shown, which is after the first rendering.
  const typed = useRef(document.activeElement);
  // A dialog that is open below would keep the focus, hidden as it is.
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
