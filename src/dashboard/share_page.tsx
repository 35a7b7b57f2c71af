/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { Entrance } from "./entrance.tsx";
import { PasswordField } from "./field.tsx";
import { ErrorNote } from "./panel.tsx";
import { isSignedIn, outage, resumeSession } from "./session.ts";
import { passwordFault, shared, shareGate, usePassword } from "./share.ts";
import { SharedShell } from "./shared_shell.tsx";

/** Asks for the share's password. */
function PasswordGate() {
  const [text, setText] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const open = async (event: Event) => {
    event.preventDefault();
    if (text === "") return setError("Type the password.");
    setBusy(true);
    setError(null);
    usePassword(text);
    await resumeSession();
    setBusy(false);
  };
  return (
    <Entrance title="This dashboard has a password">
      <form class="sign-in-form" noValidate onSubmit={open}>
        <PasswordField
          label="Password"
          autocomplete="off"
          isFirst
          value={text}
          error={error ?? passwordFault.value ?? outage.value?.detail}
          hint="Whoever sent you the link knows it."
          onChange={setText}
        />
        <button type="submit" class="button button-primary" disabled={isBusy}>
          {isBusy ? "Opening…" : "Open the dashboard"}
        </button>
      </form>
    </Entrance>
  );
}

/** The page of a share, or why it cannot be shown. */
export function SharePage() {
  if (isSignedIn.value && shared.value !== null) return <SharedShell share={shared.value} />;
  if (shareGate.value === "password") return <PasswordGate />;
  if (shareGate.value === "closed") {
    return (
      <Entrance title="This server shares no dashboards">
        <p>
          Who may read here is said by an identity provider, and that knows nobody who comes by a
          link alone. Ask whoever sent it to you for an account, or for the figures themselves.
        </p>
      </Entrance>
    );
  }
  if (outage.value !== null) {
    return (
      <Entrance title="One moment, please">
        <ErrorNote problem={outage.value} onRetry={() => void resumeSession()} />
      </Entrance>
    );
  }
  return (
    <Entrance title="There is nothing to see here">
      <p>
        This link does not show a dashboard any more: it has expired, or was taken back. Ask whoever
        sent it to you for another one.
      </p>
    </Entrance>
  );
}
