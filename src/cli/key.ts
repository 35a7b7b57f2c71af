import type { CreatedKey, KeyRecord } from "../auth/stored_keys.ts";
import { type Call, type Command, PROJECT_OPTION, UsageMistake } from "./command.ts";
import { callApi, chosenProject, type Connection, withConnection } from "./connection.ts";

const OVERLAP_S_PARSED_MAX = 1_000_000_000;

const keysPath = (project: string) => `/v1/projects/${encodeURIComponent(project)}/keys`;

function keyOfWords({ words }: Call): string {
  const [id] = words;
  if (id !== undefined) return id;
  throw new UsageMistake(
    "Say which key is meant: its id (key_…), as `footfall key list` shows it.",
  );
}

/** Prints only the key on standard output, so that `KEY=$(footfall key create)` works. */
function showCreated({ print }: Call, created: CreatedKey): void {
  print.result(created, () => `${created.key}\n`);
  const once = created.kind === "secret" ? " It is shown only now: keep it." : "";
  print.remark(`This is ${created.kind} key ${created.id}.${once}`);
}

async function list(call: Call): Promise<void> {
  const keys = await withConnection(call, async (connection) => {
    const path = keysPath(await chosenProject(connection, call));
    return (await callApi<{ keys: KeyRecord[] }>(connection, "GET", path)).keys;
  });
  const shown = call.options.flag("all") ? keys : keys.filter((key) => key.status === "active");
  call.print.result({ keys: shown }, () =>
    call.print.table(
      ["ID", "KIND", "LABEL", "KEY", "CREATED", "EXPIRES", "STATUS"],
      shown.map((key) => [
        key.id,
        key.kind,
        key.label,
        key.key ?? `…${key.hint}`,
        key.createdAt.slice(0, 10),
        key.expiresAt?.slice(0, 16).replace("T", " ") ?? null,
        key.status,
      ]),
    ));
}

async function create(call: Call): Promise<void> {
  const wanted = {
    kind: call.options.text("kind") ?? "public",
    label: call.options.text("label"),
    expiresAt: call.options.text("expires-at"),
    value: call.options.text("value"),
  };
  const created = await withConnection(call, async (connection) => {
    const path = keysPath(await chosenProject(connection, call));
    return await callApi<CreatedKey>(connection, "POST", path, wanted);
  });
  showCreated(call, created);
}

async function rotate(call: Call): Promise<void> {
  const id = keyOfWords(call);
  const overlapSeconds = call.options.integer("overlap-seconds", 0, OVERLAP_S_PARSED_MAX);
  const body = overlapSeconds === null ? {} : { overlapSeconds };
  const created = await withConnection(call, async (connection) => {
    const path = `${await pathOfKey(connection, call, id)}/rotate`;
    return await callApi<CreatedKey>(connection, "POST", path, body);
  });
  showCreated(call, created);
}

async function revoke(call: Call): Promise<void> {
  const id = keyOfWords(call);
  await withConnection(call, async (connection) => {
    await callApi<null>(connection, "DELETE", await pathOfKey(connection, call, id));
  });
  call.print.result({ id, status: "revoked" }, () => `${id} is revoked.\n`);
}

async function pathOfKey(connection: Connection, call: Call, id: string): Promise<string> {
  return `${keysPath(await chosenProject(connection, call))}/${encodeURIComponent(id)}`;
}

const PROJECT = { project: PROJECT_OPTION };

export const KEY_COMMANDS: readonly Command[] = [
  {
    name: "key list",
    summary: "List a project's API keys, public ones whole",
    usage: "footfall key list [options]",
    wordsMax: 0,
    options: {
      ...PROJECT,
      all: { type: "boolean", meaning: "with those that have expired or were revoked" },
    },
    example: "footfall key list --project prj_default",
    run: list,
  },
  {
    name: "key create",
    summary: "Create an API key, or adopt one of another system",
    usage: "footfall key create [options]",
    wordsMax: 0,
    options: {
      ...PROJECT,
      "kind": {
        type: "string",
        placeholder: "public|secret",
        default: "public",
        meaning: "public for pages, secret for servers that speak for visitors",
      },
      "label": {
        type: "string",
        mayBeEmpty: true,
        placeholder: "TEXT",
        meaning: "what people call the key",
      },
      "expires-at": {
        type: "string",
        placeholder: "TIME",
        default: "never",
        meaning: "from when on it is refused, later than now, e.g. 2030-01-01T00:00:00Z",
      },
      "value": {
        type: "string",
        placeholder: "KEY",
        meaning: "adopt this key of another system: 1 to 200 printable ASCII characters",
      },
    },
    example: 'footfall key create --kind secret --label "Checkout service"',
    run: create,
  },
  {
    name: "key rotate",
    summary: "Replace a key; the old one works a while longer",
    usage: "footfall key rotate KEY_ID [options]",
    wordsMax: 1,
    options: {
      ...PROJECT,
      "overlap-seconds": {
        type: "string",
        placeholder: "SECONDS",
        default: "86400",
        meaning: "for how long the old key keeps working",
      },
    },
    example: "footfall key rotate key_0aB1cD2eF3gH4iJ5 --overlap-seconds 3600",
    run: rotate,
  },
  {
    name: "key revoke",
    summary: "Revoke a key at once",
    usage: "footfall key revoke KEY_ID [options]",
    wordsMax: 1,
    options: PROJECT,
    example: "footfall key revoke key_0aB1cD2eF3gH4iJ5",
    run: revoke,
  },
];
