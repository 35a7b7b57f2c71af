/// <reference lib="dom" />
import { useEffect, useState } from "preact/hooks";
import { BASE_PATH } from "../base_path.ts";
import { Segments, SelectField, TextField } from "../field.tsx";
import { Icon } from "../icons.tsx";
import { Button } from "../button.tsx";
import { effectiveTimezone } from "../location_state.ts";
import { dateTime } from "../number_format.ts";
import { readablePath } from "../../readable_path.ts";
import { Panel } from "../panel.tsx";
import { CopyButton } from "../copy_button.tsx";
import { ViewLink } from "../view_link.tsx";
import { useFirstEvent, type Waiting } from "./settings_first_event.ts";
import type { KeyTask } from "./settings_keys.tsx";
import { type CreatedKey, type Key, keyName } from "./settings_replies.ts";
import { type SnippetKind, snippetOf } from "./settings_snippet.ts";

const DEFINITION =
  "How pages and programs send events to this server. The key says which project they are for.";

const KINDS = [
  { value: "script", label: "Script tag" },
  { value: "module", label: "JavaScript module" },
  { value: "curl", label: "curl" },
];
const KIND_HINTS: Readonly<Record<SnippetKind, string>> = {
  script:
    "Put it into the head of every page. Page views, clicks and scroll depth come by themselves.",
  module: "For code that is bundled, or that sends events of its own.",
  curl: "Sends one event from a terminal, to see that everything works.",
};

function Received({ waiting }: { waiting: Extract<Waiting, { state: "received" }> }) {
  const { event, isFirst } = waiting;
  return (
    <>
      <p class="settings-received">
        <Icon name="check" size={20} />
        <strong>
          {isFirst ? "We have received your first event" : "We have received an event"}
        </strong>
      </p>
      <p>
        <strong>{event.name}</strong>
        {event.path === null ? "" : ` on ${readablePath(event.path)}`}
        , {dateTime(event.timestamp, effectiveTimezone.value)}.{" "}
        <ViewLink to={{ view: "events", bots: "include", filters: [] }}>
          See it among the events
        </ViewLink>
      </p>
    </>
  );
}

function WaitingLine({ waiting }: { waiting: Waiting }) {
  switch (waiting.state) {
    case "idle":
      return (
        <p class="muted">
          Press “Test it”, then open a page with the snippet: the event shows up here.
        </p>
      );
    case "failed":
      return <p class="field-error">{waiting.problem.detail}</p>;
    case "received":
      return <Received waiting={waiting} />;
    case "waiting":
      return (
        <>
          <p class="live-line">
            <span class="live-dot live-dot-on" />
            {waiting.isFirst ? "Waiting for your first event…" : "Waiting for the next event…"}
          </p>
          {waiting.isLong && (
            <p class="muted">
              Nothing yet. Does the page carry the whole key, is its origin among the allowed ones,
              and does no blocker stand in between? The browser's console shows refused requests.
            </p>
          )}
        </>
      );
  }
}

function TestIt({ test }: { test: ReturnType<typeof useFirstEvent> }) {
  const { waiting, start, stop } = test;
  const isWaiting = waiting.state === "waiting";
  return (
    <div class="settings-test">
      <Button icon={isWaiting ? "pause" : "play"} onClick={isWaiting ? stop : start}>
        {isWaiting ? "Stop waiting" : waiting.state === "received" ? "Test it again" : "Test it"}
      </Button>
      <div role="status" class="settings-test-result">
        <WaitingLine waiting={waiting} />
      </div>
    </div>
  );
}

interface KeyChoiceProps {
  /** Public keys that work; null: whoever is signed in may not list them. */
  readonly keys: readonly Key[] | null;
  readonly chosen: Key | null;
  /** False for a key of which only the last characters are stored, as of all keys once. */
  readonly isKnown: boolean;
  readonly pasted: string;
  readonly onChoose: (id: string) => void;
  readonly onPaste: (key: string) => void;
  readonly onTask: (task: KeyTask) => void;
}

/** What is wrong with a pasted key; null: nothing. */
function pastedError(pasted: string, keys: readonly Key[] | null): string | null {
  if (pasted === "") return null;
  if (pasted.startsWith("sk_")) return "This is a secret key. Never put it into a page.";
  const isListed = keys === null || keys.some(({ hint }) => pasted.endsWith(hint));
  return isListed ? null : "No public key of this project that works ends like this one.";
}

function KeyChoice(props: KeyChoiceProps) {
  const { keys, chosen, isKnown, pasted, onChoose, onPaste, onTask } = props;
  const create = (
    <Button icon="plus" onClick={() => onTask({ task: "create", kind: "public" })}>
      Create a public key
    </Button>
  );
  if (keys?.length === 0) {
    return (
      <div class="settings-stack">
        <p>The project has no public key that works. The snippet needs one.</p>
        {create}
      </div>
    );
  }
  return (
    <div class="settings-key-choice">
      {keys !== null && (
        <SelectField
          label="Public key"
          value={chosen?.id ?? ""}
          choices={keys.map((key) => ({ value: key.id, label: keyName(key) }))}
          onChange={onChoose}
        />
      )}
      {!isKnown && (
        <TextField
          label="Paste your key"
          value={pasted}
          onChange={(text) => onPaste(text.trim())}
          placeholder="pk_…"
          error={pastedError(pasted, keys)}
          hint={keys === null
            ? "Ask whoever looks after the project for its public key. Paste it here to complete the snippet."
            : "It was created when keys were shown only once. With its next event it is known in full again; until then paste it here, or rotate it: the new one is shown here in full."}
        />
      )}
      {keys !== null && !isKnown && create}
    </div>
  );
}

interface InstallPanelProps {
  readonly keys: readonly Key[] | null;
  /** The latest public key created since the page was opened; null: none was. */
  readonly latest: CreatedKey | null;
  readonly onTask: (task: KeyTask) => void;
}

/** How to send events here, and a test that they arrive. */
export function InstallPanel({ keys, latest, onTask }: InstallPanelProps) {
  const [kind, setKind] = useState<SnippetKind>("script");
  const [chosenId, setChosenId] = useState<string | null>(null);
  const [pasted, setPasted] = useState("");
  const test = useFirstEvent();
  // A new key, also of a rotation, is the one that is wanted.
  useEffect(() => setChosenId(latest?.id ?? null), [latest?.id]);
  const chosen = keys?.find(({ id }) => id === chosenId) ?? keys?.[0] ?? null;
  // The list may not have the new key yet.
  const own = chosenId !== null && chosenId === latest?.id ? latest.key : chosen?.key ?? null;
  const key = own ?? (pasted || null);
  const turn = test.waiting.state === "received" ? test.waiting.event.timestamp : "";
  const snippet = snippetOf(kind, {
    server: location.origin + BASE_PATH,
    key: key ?? "pk_…",
    turn,
  });
  return (
    <Panel title="Install" definition={DEFINITION} class="settings-install">
      <KeyChoice
        {...{ keys, chosen, pasted, onTask }}
        isKnown={own !== null}
        onChoose={(id) => {
          setChosenId(id);
          setPasted("");
        }}
        onPaste={setPasted}
      />
      <div class="settings-stack">
        <Segments
          label="How events are sent"
          value={kind}
          choices={KINDS}
          onChange={(value) => setKind(value as SnippetKind)}
        />
        <p class="muted">{KIND_HINTS[kind]}</p>
      </div>
      <div class="settings-code">
        <pre class="code" tabIndex={0} aria-label="Snippet">{snippet}</pre>
        {/* A snippet that would not work cannot be copied. */}
        {key !== null && <CopyButton text={snippet} />}
      </div>
      <TestIt test={test} />
    </Panel>
  );
}
