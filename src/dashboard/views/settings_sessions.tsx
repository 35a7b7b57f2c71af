/// <reference lib="dom" />
import { deleteAt } from "../api.ts";
import { Button } from "../button.tsx";
import { DialogOpener } from "../dialog.tsx";
import { dateTime } from "../number_format.ts";
import { Panel } from "../panel.tsx";
import { ConfirmedRequest } from "../request_dialogs.tsx";
import { Refused, useRequest } from "../request_state.tsx";
import { useRead } from "../resource.ts";
import { leaveEverywhere } from "../session.ts";
import type { SessionsReply, SignedIn } from "./settings_people_replies.ts";

const DEFINITION =
  "Each browser that is signed in to your account. One that you do not know: sign it out, and change your password.";

interface BrowserRowProps {
  readonly of: SignedIn;
  readonly onEnded: () => void;
}

function BrowserRow({ of, onEnded }: BrowserRowProps) {
  const { id, device, place, address, lastSeenAt, current } = of;
  const name = device ?? "A browser";
  const { isBusy, problem, run } = useRequest(async () => {
    await deleteAt(`/v1/auth/sessions/${id}`);
    onEnded();
  });
  return (
    <li class="session">
      <div class="session-words">
        <p>
          <strong>{name}</strong>
          {current && <span class="tag">This browser</span>}
        </p>
        <p class="muted">
          {[place, address, current ? "in use now" : `last used ${dateTime(lastSeenAt)}`]
            .filter(Boolean).join(" · ")}
        </p>
        <Refused problem={problem} />
      </div>
      {!current && (
        <Button
          disabled={isBusy}
          aria-label={`Sign out ${name}, last used ${dateTime(lastSeenAt)}`}
          onClick={run}
        >
          Sign out
        </Button>
      )}
    </li>
  );
}

/** Where the account is signed in, and the way to end that. */
export function SessionsPanel() {
  const sessions = useRead<SessionsReply>("/v1/auth/sessions");
  const rows = sessions.data?.sessions ?? [];
  return (
    <Panel
      title="Where you are signed in"
      definition={DEFINITION}
      state={sessions}
      skeletonRows={4}
      actions={
        <DialogOpener
          icon="leave"
          dialog={(onClose) => (
            <ConfirmedRequest
              title="Sign out everywhere?"
              action="Sign out everywhere"
              ask={leaveEverywhere}
              onClose={onClose}
            >
              Every browser is signed out of your account within a second, this one too.
            </ConfirmedRequest>
          )}
        >
          Sign out everywhere
        </DialogOpener>
      }
    >
      <ul class="sessions">
        {rows.map((each) => <BrowserRow key={each.id} of={each} onEnded={sessions.reload} />)}
      </ul>
    </Panel>
  );
}
