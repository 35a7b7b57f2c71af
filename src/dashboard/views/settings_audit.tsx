/// <reference lib="dom" />
import type { output } from "zod";
import type { AuditAction } from "../../audit/audit.ts";
import type { AuditShown } from "../../auth/audit_endpoint.ts";
import { type Column, DataTable } from "../data_table.tsx";
import { effectiveTimezone } from "../location_state.ts";
import { dateTime } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { usePages } from "../resource.ts";

const DEFINITION =
  "Who did what to people, projects, keys, tokens and shares, and who exported or erased. Kept for 400 days.";

/** One thing that somebody did. */
type AuditRow = output<typeof AuditShown>["rows"][number];

const WORDS: Readonly<Record<AuditAction, string>> = {
  "owner.create": "Made the first owner",
  "person.invite": "Invited",
  "person.join": "Joined by an invitation",
  "person.change": "Changed the name of",
  "person.role": "Changed the role or projects of",
  "person.remove": "Removed",
  "person.reset": "Made a link for a new password of",
  "password.change": "Changed the password",
  "passkey.add": "Added a passkey",
  "passkey.remove": "Removed a passkey",
  "session.end": "Ended sessions",
  "project.create": "Created the project",
  "project.change": "Changed the project",
  "key.create": "Created an API key",
  "key.rotate": "Rotated an API key",
  "key.revoke": "Revoked an API key",
  "token.create": "Created an API token",
  "token.issue": "Issued a token that is not listed",
  "token.revoke": "Revoked an API token",
  "token.revoke_all": "Revoked every token, and ended every session",
  "share.create": "Shared a dashboard",
  "share.change": "Changed a share",
  "share.revoke": "Revoked a share",
  "note.create": "Noted",
  "note.change": "Changed the note",
  "note.delete": "Deleted the note",
  "actor.export": "Exported a visitor's data",
  "actor.erase": "Erased a visitor",
  "events.export": "Exported events",
  "events.import": "Imported events",
  "history.import": "Imported daily sums of another product",
  "history.remove": "Removed imported daily sums",
  "digest.save": "Saved a digest",
  "digest.delete": "Deleted a digest",
  "alert.save": "Saved an alert",
  "alert.delete": "Deleted an alert",
  "webhook.save": "Saved a webhook",
  "webhook.delete": "Deleted a webhook",
  "told.unsubscribe": "Unsubscribed from",
  "archive.make": "Made an archive",
  "archive.restore": "Restored an archive",
};

/** An action that this page does not know is shown as it is. */
const wordsOf = (what: string) => WORDS[what as AuditAction] ?? what;

const COLUMNS: readonly Column<AuditRow>[] = [
  {
    title: "What",
    value: ({ what, subject }) => [wordsOf(what), subject].filter(Boolean).join(": "),
    show: ({ what, subject }) => (
      <>
        {wordsOf(what)}
        {subject !== "" && <span class="settings-hint">{subject}</span>}
      </>
    ),
  },
  { title: "Who", value: ({ who }) => who },
  {
    title: "When",
    value: ({ at }) => at,
    show: ({ at }) => dateTime(at, effectiveTimezone.value),
  },
  {
    title: "From",
    value: ({ from }) => from,
    show: ({ from }) => from ?? "The server's machine",
    isMinor: true,
  },
];

/** What was done, newest first. */
export function AuditSection() {
  const audit = usePages<AuditRow>("/v1/audit", { limit: 50 });
  return (
    <Panel
      class="settings-wrapped"
      title="Audit"
      definition={DEFINITION}
      state={audit}
      skeletonRows={8}
    >
      <DataTable
        caption="What was done, newest first"
        columns={COLUMNS}
        rows={audit.rows}
        csvName="audit"
        {...audit.paging}
        empty={
          <EmptyNote title="Nothing was done yet">
            Invitations, changes of roles, keys, tokens, exports and erasures show up here.
          </EmptyNote>
        }
      />
    </Panel>
  );
}
