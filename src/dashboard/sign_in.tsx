/// <reference lib="dom" />
import { useState } from "preact/hooks";
import type { ApiProblem } from "./api_problem.ts";
import { commandText } from "./command.ts";
import { TextField } from "./field.tsx";
import { Mark } from "./icons.tsx";
import { EXPIRED_MESSAGE, signedOutMessage, signIn } from "./session.ts";

function messageOf({ code, detail }: ApiProblem): string {
  if (code === "expired_token") return EXPIRED_MESSAGE;
  if (code !== "invalid_token" || detail.includes("revoked")) return detail;
  return "This token is not valid here. Copy it whole.";
}

/** Where a person without a valid token ends up: what happened, and how to get in. */
export function SignIn() {
  const [text, setText] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const enter = async (event: Event) => {
    event.preventDefault();
    if (text.trim() === "") return setError("Paste a token or a link.");
    setBusy(true);
    try {
      await signIn(text);
    } catch (problem) {
      setError(messageOf(problem as ApiProblem));
    }
    setBusy(false);
  };
  return (
    <main class="sign-in">
      <form class="sign-in-card" onSubmit={enter}>
        <p class="brand">
          <Mark size={32} /> <span>Footfall</span>
        </p>
        <h1 class="view-title">Sign in</h1>
        {signedOutMessage.value !== null && (
          <p class="banner" role="alert">{signedOutMessage.value}</p>
        )}
        <p>
          Open the link that the server printed as it started, or make a new one on the machine it
          runs on:
        </p>
        <pre class="code"><code>{commandText("token --link")}</code></pre>
        <TextField
          label="Or paste a token"
          type="password"
          value={text}
          error={error}
          hint="It stays in this tab, and is gone when you close it."
          onChange={(value) => {
            setText(value);
            setError(null);
          }}
        />
        <button type="submit" class="button button-primary" disabled={isBusy}>
          {isBusy ? "Signing in…" : "Sign in"}
        </button>
      </form>
    </main>
  );
}
