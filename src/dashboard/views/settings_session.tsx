/// <reference lib="dom" />
import { dateTime } from "../number_format.ts";
import { Panel } from "../panel.tsx";
import { session } from "../session.ts";
import { SignOutButton } from "../sign_out.tsx";
import { ThemeSwitch } from "../theme_switch.tsx";

const SCOPE_WORDS: Readonly<Record<string, string>> = {
  read: "see all numbers",
  write: "save funnels and goals",
  jobs: "have captures taken",
  admin: "change projects, keys and people's data",
  people: "invite and remove people",
};

/** What a scope is good for, in words. */
export function scopeWords(scopes: readonly string[]): string {
  return scopes.map((scope) => SCOPE_WORDS[scope] ?? scope).join("; ");
}

/** For whoever came by a token: its subject, its end and scopes, and how the page looks. */
export function BrowserSection() {
  const current = session.value;
  if (current === null) return null;
  return (
    <Panel title="This browser">
      <dl class="settings-facts">
        <dt>Opened with a token for</dt>
        <dd>{current.subject}</dd>
        <dt>Until</dt>
        <dd>{dateTime(current.expiresAt)}</dd>
        <dt>May</dt>
        <dd>{scopeWords(current.scopes)}</dd>
      </dl>
      <div class="settings-actions">
        <ThemeSwitch isInWords />
        <SignOutButton class="button" />
      </div>
    </Panel>
  );
}
