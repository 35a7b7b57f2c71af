/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { type Column, DataTable } from "../data_table.tsx";
import { Button } from "../button.tsx";
import { dateTime } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { useRead } from "../resource.ts";
import { account } from "../session.ts";
import { projectNames } from "./settings_access_fields.tsx";
import { PeopleDialogs, type PeopleTask } from "./settings_people_dialogs.tsx";
import { type PeopleReply, type Person, roleName } from "./settings_people_replies.ts";
import { rowActions } from "./settings_row_actions.tsx";

const DEFINITION =
  "Who may sign in here, and what they may do. A role applies to the projects beside it.";

const isSelf = ({ id }: Person) => id === account.value?.id;

function seen({ joinedAt, lastSeenAt }: Person): string {
  if (joinedAt === null) return "Invited, not here yet";
  return lastSeenAt === null ? "Not yet" : dateTime(lastSeenAt);
}

const COLUMNS: readonly Column<Person>[] = [
  {
    title: "Person",
    value: ({ email }) => email,
    show: (person) => (
      <>
        {person.name}
        {isSelf(person) && <span class="tag">You</span>}
        <span class="settings-hint">{person.email}</span>
      </>
    ),
  },
  { title: "Role", value: ({ role }) => roleName(role) },
  {
    title: "Projects",
    value: ({ projects }) => projectNames(projects),
    show: ({ projects }) => <span class="cell-wrap">{projectNames(projects)}</span>,
    isMinor: true,
  },
  {
    title: "Last here",
    value: ({ lastSeenAt }) => lastSeenAt,
    show: seen,
    isMinor: true,
  },
];

function actions(onTask: (task: PeopleTask) => void): Column<Person> {
  return rowActions(({ name }) => name, [
    { icon: "edit", text: "Change", onClick: (of) => onTask({ task: "change", of }) },
    {
      icon: "link",
      text: ({ joinedAt }) => joinedAt === null ? "New link" : "Reset",
      isOffered: (of) => !isSelf(of),
      onClick: (of) => onTask({ task: "link", of }),
    },
    { icon: "trash", text: "Remove", onClick: (of) => onTask({ task: "remove", of }) },
  ]);
}

/** Everybody who may sign in, and a way to invite others. */
export function PeopleSection() {
  const [task, setTask] = useState<PeopleTask | null>(null);
  const people = useRead<PeopleReply>("/v1/people");
  return (
    <>
      <Panel
        title="People"
        definition={DEFINITION}
        state={people}
        skeletonRows={4}
        actions={
          <Button icon="plus" onClick={() => setTask({ task: "invite" })}>Invite somebody</Button>
        }
      >
        <DataTable
          caption="People who may sign in"
          columns={[...COLUMNS, actions(setTask)]}
          rows={people.data?.people ?? []}
          rowKey={({ id }) => id}
          empty={
            <EmptyNote title="Nobody has an account yet" icon="people">
              Invite somebody, or make the owner's account by the link that the server printed as it
              started.
            </EmptyNote>
          }
        />
      </Panel>
      <PeopleDialogs task={task} onTask={setTask} onChanged={people.reload} />
    </>
  );
}
