import type { ShownInvitation } from "../auth/people/mailed_invitation.ts";
import { PersonCreation } from "../auth/people/people_endpoints.ts";
import { ROLES } from "../auth/roles.ts";
import { parseBody } from "../http/json_body.ts";
import { invalidBody, Problem, type ProblemPart } from "../problem.ts";
import {
  type Call,
  type Command,
  type OptionSpec,
  PROJECTS_OPTION,
  UsageMistake,
} from "./command.ts";
import { callApi, type Connection, listProjects, withConnection } from "./connection.ts";
import { requireProjects } from "./named_projects.ts";
import { readSecret } from "./secret_input.ts";

interface ShownPerson {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly projects: readonly string[];
  readonly joinedAt: string | null;
  readonly lastSeenAt: string | null;
}

interface Invited {
  readonly person: ShownPerson;
  readonly invitation: ShownInvitation | null;
}

const ROLE_DEFAULT = "viewer";

function emailOfWords({ words }: Call): string {
  const [email] = words;
  if (email !== undefined) return email;
  throw new UsageMistake("Say who is meant: their e-mail address.");
}

async function listPeople(connection: Connection): Promise<readonly ShownPerson[]> {
  return (await callApi<{ people: ShownPerson[] }>(connection, "GET", "/v1/people")).people;
}

async function findPerson(connection: Connection, call: Call): Promise<ShownPerson | undefined> {
  const email = emailOfWords(call).trim().toLowerCase();
  return (await listPeople(connection)).find((person) => person.email === email);
}

async function requirePerson(connection: Connection, call: Call): Promise<ShownPerson> {
  const found = await findPerson(connection, call);
  if (found !== undefined) return found;
  throw new Problem(
    "not_found",
    `Nobody has the address ${emailOfWords(call)}. \`footfall person list\` shows everybody.`,
  );
}

/** Returns what the options of `add` and `invite` say of a person; undefined: nothing. */
function saidOf({ options }: Call) {
  return {
    role: options.text("role") ?? undefined,
    projects: options.list("project") ?? undefined,
    name: options.text("name") ?? undefined,
  };
}

/** Returns the settings of a new person. */
function wantedOf(call: Call) {
  const { role = ROLE_DEFAULT, name, ...said } = saidOf(call);
  const projects = said.projects ?? (role === "owner" ? undefined : ["*"]);
  return { email: emailOfWords(call), role, projects, name };
}

type Wanted = ReturnType<typeof wantedOf>;

/** Returns what the API refuses in the settings of a new person, whatever the database holds. */
function mistakesIn(wanted: Wanted): readonly ProblemPart[] {
  const { role, projects = ["*"] } = wanted;
  const isOwn = role !== "owner" || projects.includes("*");
  const message = "An owner is for every project: leave it out.";
  const own = isOwn ? [] : [{ field: "projects", code: "invalid_value", message }];
  try {
    parseBody(PersonCreation, wanted);
    return own;
  } catch (error) {
    if (error instanceof Problem) return [...error.options.errors ?? [], ...own];
    throw error;
  }
}

/**
 * Throws Problem with all that prevents adding the person, so that nobody types a password in vain.
 * @param isTaken whether the address is that of somebody who cannot be added again
 */
async function assertAddable(
  connection: Connection,
  wanted: Wanted,
  isTaken: boolean,
): Promise<void> {
  const mistakes = mistakesIn(wanted);
  const known = new Set((await listProjects(connection)).map(({ id }) => id));
  const isMistaken = (i: number) => mistakes.some(({ field }) => field === `projects.${i}`);
  const missing = (wanted.projects ?? [])
    .filter((id, i) => id !== "*" && !known.has(id) && !isMistaken(i))
    .map((id) => ({ code: "not_found", message: `There is no project with this id: ${id}.` }));
  const taken = { code: "conflict", message: "Somebody has this e-mail address already." };
  const facts = [...missing, ...isTaken ? [taken] : []];
  if (mistakes.length > 0) throw invalidBody([...mistakes, ...facts]);
  if (facts.length === 0) return;
  const code = isTaken ? "conflict" : "not_found";
  throw new Problem(code, "Nobody was added or changed:", { errors: facts });
}

/** Prints only the link on standard output, so that `LINK=$(footfall person invite …)` works. */
function showLink(call: Call, { person, invitation }: Invited): void {
  if (invitation === null) throw new Error("The reply has no link");
  call.print.result({ person, invitation }, () => `${invitation.url}\n`);
  call.print.remark(
    `For ${person.email}, once, until ${invitation.expiresAt.slice(0, 16).replace("T", " ")} UTC.`,
  );
  if (invitation.mailed) call.print.remark("It was mailed to them.");
  if (invitation.mailProblem !== null) call.print.remark(invitation.mailProblem);
}

async function list(call: Call): Promise<void> {
  const people = await withConnection(call, listPeople);
  const day = (time: string | null) => time?.slice(0, 10) ?? null;
  call.print.result({ people }, () =>
    call.print.table(
      ["E-MAIL", "NAME", "ROLE", "PROJECTS", "JOINED", "LAST SEEN"],
      people.map((one) => [
        one.email,
        one.name,
        one.role,
        one.projects.includes("*") ? "all" : one.projects.join(" "),
        day(one.joinedAt) ?? "invited",
        day(one.lastSeenAt),
      ]),
    ));
}

async function add(call: Call): Promise<void> {
  const wanted = wantedOf(call);
  // The connection is closed meanwhile: typing takes long, and it may hold the folder of the embedded database.
  await withConnection(call, async (connection) => {
    const isTaken = await findPerson(connection, call) !== undefined;
    await assertAddable(connection, wanted, isTaken);
  });
  const password = await readSecret(call.print.terminal, "Their password: ");
  if (password === "") {
    throw new UsageMistake(
      "Type the password, or send it on standard input. `footfall person invite` makes a link " +
        "instead, by which they choose their own.",
    );
  }
  const { person } = await withConnection(
    call,
    (connection) => callApi<Invited>(connection, "POST", "/v1/people", { ...wanted, password }),
  );
  call.print.result({ person }, () => `${person.email} may sign in, as ${person.role}.\n`);
}

async function invite(call: Call): Promise<void> {
  const wanted = wantedOf(call);
  const invited = await withConnection(call, async (connection) => {
    const known = await findPerson(connection, call);
    const isInvited = known?.joinedAt === null;
    await assertAddable(connection, wanted, known !== undefined && !isInvited);
    // A person who lost the link gets another one, and keeps what no option names.
    if (isInvited) {
      const path = `/v1/people/${known.id}`;
      await callApi(connection, "PATCH", path, saidOf(call));
      return await callApi<Invited>(connection, "POST", `${path}/invitation`);
    }
    return await callApi<Invited>(connection, "POST", "/v1/people", wanted);
  });
  showLink(call, invited);
}

async function reset(call: Call): Promise<void> {
  const made = await withConnection(call, async (connection) => {
    const { id } = await requirePerson(connection, call);
    return await callApi<Invited>(connection, "POST", `/v1/people/${id}/invitation`);
  });
  showLink(call, made);
}

async function remove(call: Call): Promise<void> {
  const removed = await withConnection(call, async (connection) => {
    const person = await requirePerson(connection, call);
    await callApi<null>(connection, "DELETE", `/v1/people/${person.id}`);
    return person;
  });
  call.print.result({ person: removed }, () => `${removed.email} is removed.\n`);
}

async function changeRole(call: Call): Promise<void> {
  const role = call.words[1];
  if (role === undefined) {
    throw new UsageMistake(`Say which role: ${ROLES.join(", ")}.`);
  }
  const projects = call.options.list("project");
  const { person } = await withConnection(call, async (connection) => {
    const { id } = await requirePerson(connection, call);
    await requireProjects(connection, projects);
    const patch = { role, ...(projects === null ? {} : { projects }) };
    return await callApi<Invited>(connection, "PATCH", `/v1/people/${id}`, patch);
  });
  const where = person.projects.includes("*") ? "every project" : person.projects.join(", ");
  call.print.result({ person }, () => `${person.email} is ${person.role} of ${where}.\n`);
}

const NEW_PERSON: Readonly<Record<string, OptionSpec>> = {
  role: {
    type: "string",
    placeholder: ROLES.join("|"),
    default: ROLE_DEFAULT,
    meaning: "what they may do",
  },
  project: PROJECTS_OPTION,
  name: { type: "string", placeholder: "TEXT", default: "before the @", meaning: "their name" },
};

export const PERSON_COMMANDS: readonly Command[] = [
  {
    name: "person list",
    summary: "List everybody who may sign in",
    usage: "footfall person list",
    wordsMax: 0,
    options: {},
    example: "footfall person list",
    run: list,
  },
  {
    name: "person add",
    summary: "Add a person with a password, which is asked for",
    usage: "footfall person add EMAIL [options]",
    notes: "The password is typed unseen, or read from standard input up to the end of its line.",
    wordsMax: 1,
    options: NEW_PERSON,
    example: "footfall person add you@example.com --role owner",
    run: add,
  },
  {
    name: "person invite",
    summary: "Invite a person by a link, which is printed",
    usage: "footfall person invite EMAIL [options]",
    notes:
      "It works once, for 7 days. Who has not used theirs gets another in its place, and keeps the\n" +
      "role, projects and name that no option changes.",
    wordsMax: 1,
    options: NEW_PERSON,
    example: "footfall person invite ada@example.com --role viewer --project prj_default",
    run: invite,
  },
  {
    name: "person reset",
    summary: "Print a link by which a person chooses another password",
    usage: "footfall person reset EMAIL",
    notes: "It works once, for 7 days. The old password works until it is used.",
    wordsMax: 1,
    options: {},
    example: "footfall person reset ada@example.com",
    run: reset,
  },
  {
    name: "person remove",
    summary: "Remove a person, and sign them out everywhere",
    usage: "footfall person remove EMAIL",
    wordsMax: 1,
    options: {},
    example: "footfall person remove ada@example.com",
    run: remove,
  },
  {
    name: "person role",
    summary: "Change what a person may do",
    usage: "footfall person role EMAIL ROLE [options]",
    notes: `ROLE is one of ${ROLES.join(", ")}.`,
    wordsMax: 2,
    options: {
      project: {
        type: "string",
        multiple: true,
        placeholder: "ID",
        default: "as before",
        meaning: 'project they may see, "*" for all; may be repeated',
      },
    },
    example: "footfall person role ada@example.com editor --project prj_default",
    run: changeRole,
  },
];
