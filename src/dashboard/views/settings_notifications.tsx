/// <reference lib="dom" />
import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { type Column, DataTable } from "../data_table.tsx";
import { Button } from "../button.tsx";
import { currentProject, effectiveTimezone } from "../location_state.ts";
import { dateTime } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { type PagedResource, type Resource, usePages, useRead } from "../resource.ts";
import type { GoalsReply } from "./goals_reading.ts";
import { rowActions } from "./settings_row_actions.tsx";
import {
  type Alert,
  causeWords,
  type Currencies,
  type Delivery,
  type Digest,
  FORMATS,
  receiverWords,
  valuedGoal,
  type Webhook,
} from "./settings_notification_replies.ts";
import {
  deliveryWords,
  NotificationDialogs,
  type NotificationLists,
  type NotificationTask,
  receiverOf,
} from "./settings_notification_task.tsx";

const when = (at: string) => dateTime(at, effectiveTimezone.value);

function actions<T extends { readonly slug: string; readonly title: string }>(
  kind: keyof NotificationLists,
  onTask: (task: NotificationTask) => void,
  change: (of: T) => NotificationTask,
): Column<T> {
  return rowActions(({ title }) => title, [
    { icon: "play", text: "Test", onClick: (of) => onTask({ task: "test", kind, of }) },
    { icon: "edit", text: "Change", onClick: (of) => onTask(change(of)) },
    { icon: "trash", text: "Delete", onClick: (of) => onTask({ task: "delete", kind, of }) },
  ]);
}

interface ListWords<T> {
  readonly title: string;
  readonly definition: string;
  /** What one of them is called. */
  readonly one: string;
  readonly kind: keyof NotificationLists;
  readonly columns: readonly Column<T>[];
  readonly taskOf: (of: T | null) => NotificationTask;
  readonly empty: ComponentChild;
}

interface ListProps<T> extends ListWords<T> {
  readonly rows: readonly T[] | undefined;
  readonly state: Resource<unknown>;
  readonly onTask: (task: NotificationTask) => void;
}

/** A list of digests, alerts or webhooks: each can be tested, changed and deleted, and new ones made. */
function NotificationList<T extends { readonly slug: string; readonly title: string }>(
  { title, definition, one, kind, columns, rows, state, taskOf, onTask, empty }: ListProps<T>,
) {
  return (
    <Panel
      class="settings-wrapped settings-notifications"
      title={title}
      definition={definition}
      state={state}
      skeletonRows={2}
      actions={<Button icon="plus" onClick={() => onTask(taskOf(null))}>New {one}</Button>}
    >
      <DataTable
        caption={title}
        columns={[...columns, actions<T>(kind, onTask, taskOf)]}
        rows={rows ?? []}
        rowKey={({ slug }) => slug}
        empty={empty}
      />
    </Panel>
  );
}

const TIMES = { daily: "Every day", weekly: "Every Monday", monthly: "Every month" } as const;

function Problem({ text }: { text: string | null }) {
  return text === null ? null : <span class="settings-words field-error">{text}</span>;
}

const RECEIVERS: Column<Digest | Alert> = {
  title: "Goes to",
  value: receiverWords,
  show: (one) => <span class="cell-wrap">{receiverWords(one)}</span>,
  isMinor: true,
};

const DIGEST_COLUMNS: readonly Column<Digest>[] = [
  {
    title: "Digest",
    value: ({ title }) => title,
    show: ({ title, every, at, problem }) => (
      <>
        {title}
        <span class="settings-words">{TIMES[every]} at {at}</span>
        <Problem text={problem} />
      </>
    ),
  },
  RECEIVERS,
  {
    title: "Next",
    value: ({ nextAt }) => nextAt,
    show: ({ nextAt }) => when(nextAt),
    isMinor: true,
  },
];

const alertColumns = (currencies: Currencies): readonly Column<Alert>[] => [
  {
    title: "Alert",
    value: ({ title }) => title,
    show: ({ title, on, firingSince, problem }) => (
      <>
        {title}
        <span class="settings-words">{causeWords(on, currencies)}</span>
        {firingSince !== null && <span class="settings-words field-error">It holds now</span>}
        <Problem text={problem} />
      </>
    ),
  },
  RECEIVERS,
  {
    title: "Now",
    value: ({ firingSince }) => firingSince,
    show: ({ firingSince }) => firingSince === null ? "All is well" : `Since ${when(firingSince)}`,
    isMinor: true,
  },
];

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

const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  {
    title: "Message",
    value: ({ subject }) => subject,
    show: (delivery) => (
      <>
        {delivery.subject}
        <span class="settings-words">{deliveryWords(delivery)}</span>
      </>
    ),
  },
  { title: "To", value: receiverOf, isMinor: true },
  { title: "Tries", value: ({ tries }) => tries, isNumber: true, isMinor: true },
  { title: "Made", value: ({ at }) => at, show: ({ at }) => when(at) },
];

function Deliveries({ state }: { state: PagedResource<Delivery> }) {
  return (
    <Panel
      class="settings-wrapped settings-notifications"
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
        {...state.paging}
        empty={<EmptyNote title="Nothing was sent yet" />}
      />
    </Panel>
  );
}

const DIGESTS: ListWords<Digest> = {
  title: "Digests",
  definition:
    "What happened in a day, a week or a month, with the period before: sent by mail or to webhooks without being asked.",
  one: "digest",
  kind: "digests",
  columns: DIGEST_COLUMNS,
  taskOf: (of) => ({ task: "digest", of }),
  empty: (
    <EmptyNote title="No digest is sent" icon="calendar">
      Have the figures sent to you every morning, every Monday or every month.
    </EmptyNote>
  ),
};

const ALERTS: Omit<ListWords<Alert>, "columns"> = {
  title: "Alerts",
  definition:
    "Messages that are sent once as something begins, once as it is over, and again only after that.",
  one: "alert",
  kind: "alerts",
  taskOf: (of) => ({ task: "alert", of }),
  empty: (
    <EmptyNote title="Nothing is watched" icon="insights">
      Get a message when a figure leaves its bounds, when something is unusual, or when no events
      come.
    </EmptyNote>
  ),
};

const WEBHOOKS: ListWords<Webhook> = {
  title: "Webhooks",
  definition:
    "Addresses that messages are posted to: of a program of yours, or of a channel in Slack, Discord or Teams.",
  one: "webhook",
  kind: "webhooks",
  columns: WEBHOOK_COLUMNS,
  taskOf: (of) => ({ task: "webhook", of }),
  empty: (
    <EmptyNote title="There is no webhook" icon="link">
      Make one to get digests and alerts in a chat, or in a program of yours.
    </EmptyNote>
  ),
};

/** Currencies of the goals whose value an alert watches. */
function useCurrencies(alerts: readonly Alert[]): Currencies {
  const isAsked = alerts.some(({ on }) => valuedGoal(on) !== null);
  // Of one day: the goals' figures are not needed here.
  const today = new Date().toISOString().slice(0, 10);
  const path = isAsked ? "/v1/goals" : null;
  const { data } = useRead<GoalsReply>(path, { from: today, to: today });
  return new Map(data?.goals.map(({ slug, value }) => [slug, value.currency]));
}

function ProjectNotifications() {
  const [task, setTask] = useState<NotificationTask | null>(null);
  const digests = useRead<{ digests: Digest[] }>("/v1/digests");
  const alerts = useRead<{ alerts: Alert[] }>("/v1/alerts");
  const webhooks = useRead<{ webhooks: Webhook[] }>("/v1/webhooks");
  const deliveries = usePages<Delivery>("/v1/deliveries", { limit: 20 });
  const columns = alertColumns(useCurrencies(alerts.data?.alerts ?? []));
  const onChanged = () => {
    for (const each of [digests, alerts, webhooks, deliveries]) each.reload();
  };
  return (
    <>
      <NotificationList
        {...DIGESTS}
        rows={digests.data?.digests}
        state={digests}
        onTask={setTask}
      />
      <NotificationList
        {...{ ...ALERTS, columns }}
        rows={alerts.data?.alerts}
        state={alerts}
        onTask={setTask}
      />
      <NotificationList
        {...WEBHOOKS}
        rows={webhooks.data?.webhooks}
        state={webhooks}
        onTask={setTask}
      />
      <Deliveries state={deliveries} />
      <NotificationDialogs
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

/** Digests, alerts and webhooks of the project, and what became of each message. */
export function NotificationsSection() {
  const current = currentProject.value;
  return current === null
    ? <EmptyNote title="There is no project to report on" />
    : <ProjectNotifications key={current.id} />;
}
