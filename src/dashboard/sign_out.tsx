/// <reference lib="dom" />
import { Icon } from "./icons.tsx";
import { useRequest } from "./request_state.tsx";
import { signOut } from "./session.ts";

/** A button that ends the session of this browser, or says that this failed. */
export function SignOutButton(props: { class: string }) {
  const { isBusy, problem, run } = useRequest(signOut);
  return (
    <>
      <button type="button" class={props.class} disabled={isBusy} onClick={run}>
        <Icon name="leave" /> Sign out
      </button>
      {problem !== null && (
        <p role="alert" class="field-error">You are still signed in. {problem.detail}</p>
      )}
    </>
  );
}
