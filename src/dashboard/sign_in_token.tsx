/// <reference lib="dom" />
import { Button } from "./button.tsx";
import { useState } from "preact/hooks";
import { commandText } from "./command.ts";
import { PasswordField } from "./field.tsx";
import { Form } from "./form.tsx";
import { useRequest } from "./request_state.tsx";
import { signInByToken } from "./session.ts";
import type { ApiProblem } from "./api_problem.ts";

function messageOf({ code, detail }: ApiProblem): string {
  if (code === "expired_token") return "This token has expired. Make a new one.";
  if (code !== "invalid_token" || detail.includes("revoked")) return detail;
  return "This token is not valid here. Copy it whole.";
}

/** The form for signing in with a token, without an account. */
export function SignInByToken() {
  const [text, setText] = useState("");
  const [isEmpty, setEmpty] = useState(false);
  const { isBusy, problem, run, clearProblem } = useRequest(() => signInByToken(text));
  return (
    <Form
      class="stack-wide"
      onSubmit={() => {
        setEmpty(text.trim() === "");
        if (text.trim() !== "") void run();
      }}
    >
      <p>Make a link or a token on the machine that the server runs on:</p>
      <pre class="code code-wrap"><code>{commandText("token --link")}</code></pre>
      <PasswordField
        label="Token or link"
        autocomplete="off"
        value={text}
        error={isEmpty ? "Paste a token or a link." : problem && messageOf(problem)}
        hint="It stays in this tab, and is gone when you close it."
        onChange={(value) => {
          setText(value);
          setEmpty(false);
          clearProblem();
        }}
      />
      <Button type="submit" disabled={isBusy}>{isBusy ? "Opening…" : "Open with the token"}</Button>
    </Form>
  );
}
