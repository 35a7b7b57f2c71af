/// <reference lib="dom" />
import { useState } from "preact/hooks";
import type { output } from "zod";
import type { PasskeysReply } from "../../auth/passkeys/passkey_endpoints.ts";
import { TextField } from "../field.tsx";
import { Button } from "../button.tsx";
import { dateTime } from "../number_format.ts";
import { Panel } from "../panel.tsx";
import { addPasskey, canUsePasskeys, useDeviceSignal } from "../passkey_device.ts";
import { typedPassword } from "../passkey_hint.tsx";
import { Deletion, FormDialog } from "../request_dialogs.tsx";
import { useRequest } from "../request_state.tsx";
import { useRead } from "../resource.ts";

const DEFINITION =
  "A way in without a password: your device's fingerprint, face or PIN, or a security key.";

type PasskeyList = output<typeof PasskeysReply>;
type Passkey = PasskeyList["passkeys"][number];

interface DialogProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function Add({ onClose, onDone }: DialogProps) {
  const [name, setName] = useState("");
  const signal = useDeviceSignal();
  const request = useRequest(async () => {
    await addPasskey(name.trim() || "Passkey", signal);
    // The hint has been followed.
    typedPassword.value = false;
    onDone();
    // The device may answer as it is given up: another dialog may be open by then.
    if (!signal.aborted) onClose();
  });
  return (
    <FormDialog
      title="Add a passkey"
      id="add-passkey"
      request={request}
      action={request.isBusy ? "Waiting for your device…" : "Go on"}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        placeholder="Laptop"
        hint="So that you know it again. Your device then asks you to confirm."
        maxLength={100}
        error={request.problem?.messageFor("name")}
        onChange={setName}
      />
    </FormDialog>
  );
}

/** The passkeys of the account, and the way to more. */
export function PasskeysPanel() {
  const passkeys = useRead<PasskeyList>("/v1/auth/passkeys");
  const [task, setTask] = useState<"add" | Passkey | null>(null);
  const rows = passkeys.data?.passkeys ?? [];
  const onClose = () => setTask(null);
  return (
    <Panel
      title="Passkeys"
      definition={DEFINITION}
      state={passkeys}
      skeletonRows={2}
      actions={canUsePasskeys() && (
        <Button icon="plus" onClick={() => setTask("add")}>Add a passkey</Button>
      )}
    >
      {rows.length === 0 && (
        <p class="muted">
          {canUsePasskeys()
            ? "None yet. With one you sign in by fingerprint, face or PIN, and nobody can steal a password from you."
            : "None. This browser makes passkeys only where the page comes over https."}
        </p>
      )}
      <ul class="sessions">
        {rows.map((each) => (
          <li key={each.id} class="session">
            <div class="session-words">
              <p>
                <strong>{each.name}</strong>
              </p>
              <p class="muted">
                {each.lastUsedAt === null
                  ? `Made ${dateTime(each.createdAt)}, not used yet`
                  : `Last used ${dateTime(each.lastUsedAt)}`}
              </p>
            </div>
            <Button aria-label={`Remove the passkey ${each.name}`} onClick={() => setTask(each)}>
              Remove
            </Button>
          </li>
        ))}
      </ul>
      {task === "add" && <Add onClose={onClose} onDone={passkeys.reload} />}
      {task !== null && task !== "add" && (
        <Deletion
          title={`Remove the passkey ${task.name}?`}
          action="Remove it"
          path={`/v1/auth/passkeys/${encodeURIComponent(task.id)}`}
          onDone={passkeys.reload}
          onClose={onClose}
        >
          It opens your account no more. Remove it from the device's own list too.
        </Deletion>
      )}
    </Panel>
  );
}
