/// <reference lib="dom" />
import { Segments } from "../field.tsx";
import { Icon } from "../icons.tsx";
import { dateTime } from "../number_format.ts";
import { Panel } from "../panel.tsx";
import { session, signOut, token } from "../session.ts";
import { type Theme, theme } from "../theme.ts";

const THEMES = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];
const SCOPE_WORDS: Readonly<Record<string, string>> = {
  read: "see all numbers",
  write: "save funnels and goals",
  jobs: "have pictures taken",
  admin: "change projects, keys and people's data",
};

/** True for a token that is good for every project, those of the future included. */
export function mayCreateProjects(): boolean {
  try {
    const claims = (token.value ?? "").split(".")[1]!.replace(/-/g, "+").replace(/_/g, "/");
    return JSON.parse(atob(claims)).projects.includes("*");
  } catch {
    // Not readable here: the server will say.
    return true;
  }
}

/** Who is signed in, for how long, and how the page looks. */
export function SessionPanel() {
  const current = session.value;
  if (current === null) return null;
  const scopes = current.scopes.map((scope) => SCOPE_WORDS[scope] ?? scope);
  return (
    <Panel title="This browser">
      <dl class="settings-facts">
        <dt>Signed in as</dt>
        <dd>{current.subject}</dd>
        <dt>Until</dt>
        <dd>{dateTime(current.expiresAt)}</dd>
        <dt>May</dt>
        <dd>{scopes.join("; ")}</dd>
      </dl>
      <div class="settings-actions">
        <Segments
          label="Colours"
          value={theme.value}
          choices={THEMES}
          onChange={(value) => theme.value = value as Theme}
        />
        <button type="button" class="button" onClick={() => signOut()}>
          <Icon name="leave" /> Sign out
        </button>
      </div>
    </Panel>
  );
}
