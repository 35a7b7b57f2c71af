/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { type Column, DataTable } from "../data_table.tsx";
import { Icon } from "../icons.tsx";
import { currentProject, effectiveTimezone } from "../location_state.ts";
import { dateTime } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { type PagedResource, type Resource, usePages, useRead } from "../resource.ts";
import { rowActions } from "./settings_row_actions.tsx";
import {
  type Alert,
  causeWords,
  type Delivery,
  type Digest,
  FORMATS,
  receiverWords,
  type Webhook,
} from "./settings_told_replies.ts";
import { deliveryWords, type Told, ToldDialogs, type ToldTask } from "./settings_told_task.tsx";

interface ListProps<Reply> {
  readonly state: Resource<Reply>;
  readonly onTask: (task: ToldTask) => void;
}

const when = (at: string) => dateTime(at, effectiveTimezone.value);

function actions<T extends { readonly slug: string; readonly title: string }>(
  kind: keyof Told,
  onTask: (task: ToldTask) => void,
  change: (of: T) => ToldTask,
): Column<T> {
  return rowActions(({ title }) => title, [
    { icon: "play", text: "Test", onClick: (of) => onTask({ task: "test", kind, of }) },
    { icon: "edit", text: "Change", onClick: (of) => onTask(change(of)) },
    { icon: "trash", text: "Delete", onClick: (of) => onTask({ task: "delete", kind, of }) },
  ]);
}

const TIMES = { daily: "Every day", weekly: "Every Monday", monthly: "Every month" } as const;

function Problem({ text }: { text: string | null }) {
  return text === null ? null : <span class="settings-hint field-error">{text}</span>;
}

const DIGEST_COLUMNS: readonly Column<Digest>[] = [
  {
    title: "Digest",
    value: ({ title }) => title,
    show: ({ title, every, at, problem }) => (
      <>
        {title}
        <span class="settings-hint">{TIMES[every]} at {at}</span>
        <Problem text={problem} />
      </>
    ),
  },
  {
    title: "Goes to",
    value: receiverWords,
    show: (digest) => <span class="cell-wrap">{receiverWords(digest)}</span>,
    isMinor: true,
  },
  {
    title: "Next",
    value: ({ nextAt }) => nextAt,
    show: ({ nextAt }) => when(nextAt),
    isMinor: true,
  },
];

function Digests({ state, onTask }: ListProps<{ readonly digests: readonly Digest[] }>) {
  return (
    <Panel
      class="settings-wrapped"
      title="Digests"
      definition="What happened in a day, a week or a month, with the period before: sent by mail or to webhooks without being asked."
      state={state}
      skeletonRows={2}
      actions={
        <button
          type="button"
          class="button"
          onClick={() => onTask({ task: "digest", of: null })}
        >
          <Icon name="plus" /> New digest
        </button>
      }
    >
      <DataTable
        caption="Digests"
        columns={[
          ...DIGEST_COLUMNS,
          actions<Digest>("digests", onTask, (of) => ({ task: "digest", of })),
        ]}
        rows={state.data?.digests ?? []}
        rowKey={({ slug }) => slug}
        empty={
          <EmptyNote title="No digest is sent" icon="calendar">
            Have the figures sent to you every morning, every Monday or every month.
          </EmptyNote>
        }
      />
    </Panel>
  );
}

const ALERT_COLUMNS: readonly Column<Alert>[] = [
  {
    title: "Alert",
    value: ({ title }) => title,
    show: ({ title, on, firingSince, problem }) => (
      <>
        {title}
        <span class="settings-hint">{causeWords(on)}</span>
        {firingSince !== null && <span class="settings-hint field-error">It holds now</span>}
        <Problem text={problem} />
      </>
    ),
  },
  {
    title: "Goes to",
    value: receiverWords,
    show: (alert) => <span class="cell-wrap">{receiverWords(alert)}</span>,
    isMinor: true,
  },
  {
    title: "Now",
    value: ({ firingSince }) => firingSince,
    show: ({ firingSince }) => firingSince === null ? "All is well" : `Since ${when(firingSince)}`,
    isMinor: true,
  },
];

function Alerts({ state, onTask }: ListProps<{ readonly alerts: readonly Alert[] }>) {
  return (
    <Panel
      class="settings-wrapped"
      title="Alerts"
      definition="What is told once as it begins, and again only after it was over."
      state={state}
      skeletonRows={2}
      actions={
        <button
          type="button"
          class="button"
          onClick={() => onTask({ task: "alert", of: null })}
        >
          <Icon name="plus" /> New alert
        </button>
      }
    >
      <DataTable
        caption="Alerts"
        columns={[
          ...ALERT_COLUMNS,
          actions<Alert>("alerts", onTask, (of) => ({ task: "alert", of })),
        ]}
        rows={state.data?.alerts ?? []}
        rowKey={({ slug }) => slug}
        empty={
          <EmptyNote title="Nothing is watched" icon="insights">
            Be told when a figure leaves its bounds, when something is unusual, or when no events
            come.
          </EmptyNote>
        }
      />
    </Panel>
  );
}

const WEBHOOK_COLUMNS: readonly Column<Webhook>[] = [
  { title: "Webhook", value: ({ title }) => title },
  {
    title: "Format",
    value: ({ format }) => FORMATS.find(({ value }) => value === format)?.label ?? format,
    isMinor: true,
  },
  {
    title: "Host",
    value: ({ url }) => URL.parse(url)?.host ?? url,
    isMinor: true,
  },
];

function Webhooks({ state, onTask }: ListProps<{ readonly webhooks: readonly Webhook[] }>) {
  return (
    <Panel
      class="settings-wrapped"
      title="Webhooks"
      definition="Addresses that messages are posted to: of a program of yours, or of a channel in Slack, Discord or Teams."
      state={state}
      skeletonRows={2}
      actions={
        <button
          type="button"
          class="button"
          onClick={() => onTask({ task: "webhook", of: null })}
        >
          <Icon name="plus" /> New webhook
        </button>
      }
    >
      <DataTable
        caption="Webhooks"
        columns={[
          ...WEBHOOK_COLUMNS,
          actions<Webhook>("webhooks", onTask, (of) => ({ task: "webhook", of })),
        ]}
        rows={state.data?.webhooks ?? []}
        rowKey={({ slug }) => slug}
        empty={
          <EmptyNote title="There is no webhook" icon="link">
            Make one to get digests and alerts in a chat, or in a program of yours.
          </EmptyNote>
        }
      />
    </Panel>
  );
}

const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  {
    title: "Message",
    value: ({ subject }) => subject,
    show: (delivery) => (
      <>
        {delivery.subject}
        <span class="settings-hint">{deliveryWords(delivery)}</span>
      </>
    ),
  },
  { title: "To", value: ({ receiver }) => receiver, isMinor: true },
  { title: "Tries", value: ({ tries }) => tries, isNumber: true, isMinor: true },
  { title: "Made", value: ({ at }) => at, show: ({ at }) => when(at) },
];

function Deliveries({ state }: { state: PagedResource<Delivery> }) {
  return (
    <Panel
      class="settings-wrapped"
      title="Messages"
      definition="What became of each message of the last 30 days, newest first. One that fails is tried again for almost a day."
      state={state}
      skeletonRows={4}
    >
      <DataTable
        caption="Messages"
        columns={DELIVERY_COLUMNS}
        rows={state.rows}
        rowKey={({ id }) => id}
        onMore={state.hasMore ? state.more : undefined}
        isLoadingMore={state.isLoadingMore}
        moreProblem={state.moreProblem}
        empty={<EmptyNote title="Nothing was sent yet" />}
      />
    </Panel>
  );
}

function ToldOfProject() {
  const [task, setTask] = useState<ToldTask | null>(null);
  const digests = useRead<{ digests: Digest[] }>("/v1/digests");
  const alerts = useRead<{ alerts: Alert[] }>("/v1/alerts");
  const webhooks = useRead<{ webhooks: Webhook[] }>("/v1/webhooks");
  const deliveries = usePages<Delivery>("/v1/deliveries", { limit: 20 });
  const onChanged = () => {
    for (const each of [digests, alerts, webhooks, deliveries]) each.reload();
  };
  return (
    <>
      <Digests state={digests} onTask={setTask} />
      <Alerts state={alerts} onTask={setTask} />
      <Webhooks state={webhooks} onTask={setTask} />
      <Deliveries state={deliveries} />
      <ToldDialogs
        digests={digests.data?.digests ?? []}
        alerts={alerts.data?.alerts ?? []}
        webhooks={webhooks.data?.webhooks ?? []}
        task={task}
        onTask={setTask}
        onChanged={onChanged}
      />
    </>
  );
}

/** What is told without being asked: digests, alerts, where they go, and what became of them. */
export function ToldSection() {
  const current = currentProject.value;
  return current === null
    ? <EmptyNote title="There is no project to tell of" />
    : <ToldOfProject key={current.id} />;
}
