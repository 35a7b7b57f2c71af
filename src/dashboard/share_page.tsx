/// <reference lib="dom" />
import { Button } from "./button.tsx";
import { useState } from "preact/hooks";
import { Entrance } from "./entrance.tsx";
import { PasswordField } from "./field.tsx";
import { Form } from "./form.tsx";
import { isSignedIn, outage, resumeSession } from "./session.ts";
import { passwordFault, shared, shareGate, usePassword } from "./share.ts";
import { SharedShell } from "./shared_shell.tsx";
import { Outage } from "./sign_in.tsx";

/** Asks for the share's password. */
function PasswordGate() {
  const [text, setText] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const open = async () => {
    if (text === "") return setError("Type the password.");
    setBusy(true);
    setError(null);
    usePassword(text);
    await resumeSession();
    setBusy(false);
  };
  return (
    <Entrance title="This dashboard has a password">
      <Form class="stack-wide" onSubmit={() => void open()}>
        <PasswordField
          label="Password"
          autocomplete="off"
          isFirst
          value={text}
          error={error ?? passwordFault.value ?? outage.value?.detail}
          hint="Whoever sent you the link knows it."
          onChange={setText}
        />
        <Button kind="primary" type="submit" disabled={isBusy}>
          {isBusy ? "Opening…" : "Open the dashboard"}
        </Button>
      </Form>
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
  if (outage.value !== null) return <Outage />;
  return (
    <Entrance title="There is nothing to see here">
      <p>
        This link does not show a dashboard any more: it has expired, or was taken back. Ask whoever
        sent it to you for another one.
      </p>
    </Entrance>
  );
}
