/// <reference lib="dom" />
import { OTHER } from "../filter_fields.ts";
import { Button } from "../button.tsx";
import { EmptyNote, Skeleton } from "../panel.tsx";
import { currentDates, timezone } from "../location_state.ts";
import { readablePath } from "../../readable_path.ts";
import { useRead } from "../resource.ts";
import { hasAccount, hasScope } from "../session.ts";
import { SHARE_ID } from "../share.ts";
import { type GoalForm, newForm } from "./goals_form.ts";

/** The SDK sends these by itself: they are not suggested as goals. */
const PASSIVE: readonly string[] = ["page_view", "click", "scroll"];
/** Event names that suggest a success, the best examples first. */
const SUCCESS = [
  /purchase|order|paid|payment/,
  /sign_?up|register|subscri|trial/,
  /lead|contact|book|download/,
];

interface ValuesReply {
  readonly series: readonly { readonly value?: string | null }[];
}

function valuesOf(data: ValuesReply | null): readonly string[] {
  return data?.series.flatMap(({ value }) => value && value !== OTHER ? [value] : []) ?? [];
}

/** The event that looks most like a success, else the most frequent of the site's own. */
function exampleOf(names: readonly string[]): string | null {
  const own = names.filter((name) => !PASSIVE.includes(name));
  const successes = SUCCESS.map((word) => own.find((name) => word.test(name.toLowerCase())));
  return successes.find((name) => name !== undefined) ?? own[0] ?? null;
}

/** An event's name as a title: "sign_up" is "Sign up". */
function titleOf(name: string): string {
  const words = name.replace(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A goal that the project's own events suggest; null: none. */
function useExample(): { isLoading: boolean; form: GoalForm | null; text: string } {
  const params = { ...currentDates(), timezone: timezone.value, interval: "month" };
  const names = useRead<ValuesReply>("/v1/trends", { ...params, by: "name" });
  const event = exampleOf(valuesOf(names.data));
  const needsPath = names.data !== null && event === null;
  const paths = useRead<ValuesReply>(needsPath ? "/v1/trends" : null, {
    ...params,
    by: "path",
    event: "page_view",
  });
  const path = valuesOf(paths.data)[0];
  const isLoading = names.state === "loading" && names.data === null ||
    needsPath && paths.state === "loading" && paths.data === null;
  if (event !== null) {
    const form = newForm(titleOf(event), { name: event, filters: [] });
    return { isLoading, form, text: event };
  }
  if (path === undefined) return { isLoading, form: null, text: "" };
  const filters = [{ field: "path", op: "is", values: [path] }];
  const shown = readablePath(path);
  const form = newForm(`Visit to ${shown}`, { name: "page_view", filters });
  return { isLoading, form, text: `page_view of ${shown}` };
}

/** What a goal is, with an example of the project's own events. */
export function GoalsStart({ onCreate }: { onCreate: (form: GoalForm) => void }) {
  return SHARE_ID === null
    ? <FirstGoal onCreate={onCreate} />
    : <EmptyNote title="No goals yet" icon="goals" />;
}

function FirstGoal({ onCreate }: { onCreate: (form: GoalForm) => void }) {
  const { isLoading, form, text } = useExample();
  if (isLoading) return <Skeleton />;
  const canWrite = hasScope("write");
  return (
    <EmptyNote title="No goals yet" icon="goals">
      <p>
        A goal counts the people who do what you hope for: sign up, buy, or reach a page. It counts
        past events too, and shows where those people came from.
      </p>
      {canWrite
        ? (
          <p class="goals-start">
            {form !== null && (
              <Button kind="primary" onClick={() => onCreate(form)}>Use “{text}”</Button>
            )}
            <Button icon="plus" onClick={() => onCreate(newForm())}>New goal</Button>
          </p>
        )
        : <NoWriting />}
    </EmptyNote>
  );
}

/** Why the buttons are missing. */
export function NoWriting() {
  // Nobody expects them in a share.
  if (SHARE_ID !== null) return null;
  return (
    <p class="muted">
      {hasAccount.value
        ? "You may only look, so goals cannot be changed. Ask an owner for the role of an editor."
        : (
          <>
            Your link may only read, so goals cannot be changed. Ask for a link with the scope{" "}
            <code>write</code>.
          </>
        )}
    </p>
  );
}
