/// <reference lib="dom" />
import { Button } from "../button.tsx";
import { useEffect, useState } from "preact/hooks";
import { send } from "../api.ts";
import { ApiProblem } from "../api_problem.ts";
import { Dialog } from "../dialog.tsx";
import { Deletion } from "../request_dialogs.tsx";
import { AlertDialog } from "./settings_alert_dialog.tsx";
import { DigestDialog } from "./settings_digest_dialog.tsx";
import { Refused } from "../request_state.tsx";
import type {
  Alert,
  Delivery,
  Digest,
  SentReply,
  Webhook,
} from "./settings_notification_replies.ts";
import { WebhookDialog, WebhookSecret } from "./settings_webhook_dialog.tsx";

/** The lists of the section by what their rows are. */
export interface NotificationLists {
  readonly digests: readonly Digest[];
  readonly alerts: readonly Alert[];
  readonly webhooks: readonly Webhook[];
}

type Named = { readonly slug: string; readonly title: string };

/** What a dialog is open for. */
export type NotificationTask =
  | { readonly task: "digest"; readonly of: Digest | null }
  | { readonly task: "alert"; readonly of: Alert | null }
  | { readonly task: "webhook"; readonly of: Webhook | null }
  | { readonly task: "secret"; readonly of: Webhook }
  | {
    readonly task: "test" | "delete";
    readonly kind: keyof NotificationLists;
    readonly of: Named;
  };

const STATUS_WORDS: Readonly<Record<Delivery["status"], string>> = {
  waiting: "waits",
  sent: "sent",
  failed: "failed",
  dropped: "dropped",
};

/** What became of a message, in words. */
export function deliveryWords({ status, outcome }: Delivery): string {
  return outcome === null ? STATUS_WORDS[status] : `${STATUS_WORDS[status]}: ${outcome}`;
}

/** Who gets a message, in words. */
export function receiverOf({ channel, receiver }: Delivery): string {
  return channel === "log" ? "Nobody" : receiver;
}

interface TestProps {
  readonly kind: keyof NotificationLists;
  readonly of: Named;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Sends one now, and shows what became of it. */
function Test({ kind, of, onClose, onDone }: TestProps) {
  const [deliveries, setDeliveries] = useState<readonly Delivery[] | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  useEffect(() => {
    send<SentReply>("POST", `/v1/${kind}/${of.slug}/test`).then((reply) => {
      setDeliveries(reply?.deliveries ?? []);
      onDone();
    }, (error) => {
      if (error instanceof ApiProblem) setProblem(error);
      else throw error;
    });
  }, []);
  return (
    <Dialog
      title={`Test of ${of.title}`}
      onClose={onClose}
      footer={<Button kind="primary" onClick={onClose}>Done</Button>}
    >
      <div role="status">
        {deliveries === null && problem === null && <p>It is being sent…</p>}
        {deliveries?.map((delivery) => (
          <p key={delivery.id}>{receiverOf(delivery)}: {deliveryWords(delivery)}</p>
        ))}
      </div>
      <Refused problem={problem} />
    </Dialog>
  );
}

interface NotificationDialogsProps extends NotificationLists {
  readonly task: NotificationTask | null;
  readonly onTask: (task: NotificationTask | null) => void;
  readonly onChanged: () => void;
}

const slugs = (all: readonly Named[]) => all.map(({ slug }) => slug);

/** The dialogs in which digests, alerts and webhooks are made, changed, tested and deleted. */
export function NotificationDialogs(props: NotificationDialogsProps) {
  const { task, onTask, onChanged, digests, alerts, webhooks } = props;
  const onClose = () => onTask(null);
  const onDone = () => {
    onChanged();
    onClose();
  };
  switch (task?.task) {
    case "digest":
      return (
        <DigestDialog
          of={task.of}
          taken={slugs(digests)}
          {...{ webhooks, onClose, onDone }}
        />
      );
    case "alert":
      return <AlertDialog of={task.of} taken={slugs(alerts)} {...{ webhooks, onClose, onDone }} />;
    case "webhook":
      return (
        <WebhookDialog
          of={task.of}
          taken={slugs(webhooks)}
          onClose={onClose}
          onDone={(saved) => {
            onChanged();
            onTask(saved.secret === undefined ? null : { task: "secret", of: saved });
          }}
        />
      );
    case "secret":
      return <WebhookSecret of={task.of} onClose={onClose} />;
    case "test":
      return <Test kind={task.kind} of={task.of} onClose={onClose} onDone={onChanged} />;
    case "delete":
      return (
        <Deletion
          title={`Delete ${task.of.title}?`}
          action="Delete it"
          path={`/v1/${task.kind}/${task.of.slug}`}
          onDone={onChanged}
          onClose={onClose}
        >
          Nothing of it is sent any more. What was sent stays in the list of messages.
        </Deletion>
      );
    default:
      return null;
  }
}
