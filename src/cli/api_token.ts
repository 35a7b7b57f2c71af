import type { ApiToken } from "../auth/api_tokens/api_tokens.ts";
import { scopesOf } from "../auth/roles.ts";
import { type Call, type Command, PROJECTS_OPTION, UsageMistake } from "./command.ts";
import { callApi, withConnection } from "./connection.ts";
import { durationSeconds } from "./duration.ts";
import { requireProjects } from "./named_projects.ts";

interface CreatedToken {
  readonly id: string;
  readonly token: string;
  readonly expiresAt: string;
}

const PATH = "/v1/tokens";
const TTL_DEFAULT = "90d";

/** Returns a time as tables show it, to the minute. */
const minute = (at: string | null) => at === null ? null : at.slice(0, 16).replace("T", " ");

async function list(call: Call): Promise<void> {
  const { tokens } = await withConnection(
    call,
    (connection) => callApi<{ tokens: ApiToken[] }>(connection, "GET", PATH),
  );
  const shown = call.options.flag("all") ? tokens : tokens.filter((t) => t.status === "active");
  call.print.result({ tokens: shown }, () =>
    call.print.table(
      ["ID", "NAME", "SCOPE", "PROJECTS", "MADE BY", "LAST USE", "EXPIRES", "STATUS"],
      shown.map((token) => [
        token.id,
        token.name,
        token.scope,
        token.projects.join(" "),
        token.createdBy,
        minute(token.lastUsedAt),
        minute(token.expiresAt),
        token.status,
      ]),
    ));
}

async function create(call: Call): Promise<void> {
  const { options, print } = call;
  const name = options.text("name");
  if (name === null) throw new UsageMistake("Say what the token is for: --name TEXT.");
  const seconds = durationSeconds(options.text("ttl") ?? TTL_DEFAULT, "ttl");
  const wanted = {
    name,
    scope: options.text("scope") ?? "read",
    projects: options.list("project") ?? ["*"],
    expiresAt: new Date(call.now() + seconds * 1000).toISOString(),
  };
  const created = await withConnection(call, async (connection) => {
    await requireProjects(connection, wanted.projects);
    return await callApi<CreatedToken>(connection, "POST", PATH, wanted);
  });
  // Only the token goes to standard output, so that `TOKEN=$(footfall token create …)` works.
  print.result(created, () => `${created.token}\n`);
  print.remark(
    `This is API token ${created.id}, valid until ${created.expiresAt}. ` +
      `It is shown only now: keep it.`,
  );
}

async function revoke(call: Call): Promise<void> {
  const [id] = call.words;
  if (id === undefined) {
    throw new UsageMistake(
      "Say which token is meant: its id (tok_…), as `footfall token list` shows it.",
    );
  }
  await withConnection(
    call,
    (connection) => callApi<null>(connection, "DELETE", `${PATH}/${encodeURIComponent(id)}`),
  );
  call.print.result({ id, status: "revoked" }, () => `${id} is revoked.\n`);
}

export const API_TOKEN_COMMANDS: readonly Command[] = [
  {
    name: "token list",
    summary: "List API tokens, whose they are and when they were used last",
    usage: "footfall token list [options]",
    wordsMax: 0,
    options: { all: { type: "boolean", meaning: "with those that are no longer valid" } },
    example: "footfall token list",
    run: list,
  },
  {
    name: "token create",
    summary: "Create an API token, which is listed and can be revoked alone",
    usage: "footfall token create --name TEXT [options]",
    notes: "Tokens of `footfall token` are not listed, and end by their time or all together.",
    wordsMax: 0,
    options: {
      name: { type: "string", placeholder: "TEXT", meaning: "what it is for" },
      project: PROJECTS_OPTION,
      scope: {
        type: "string",
        placeholder: '"WORD …"',
        default: "read",
        meaning: `what it may do: ${scopesOf("owner").join(", ")}`,
      },
      ttl: {
        type: "string",
        of: "expiresAt",
        placeholder: "TIME",
        default: TTL_DEFAULT,
        meaning: "how long it is valid: 12h, 90d",
      },
    },
    example: 'footfall token create --name "Weekly report" --project prj_default',
    run: create,
  },
  {
    name: "token revoke",
    summary: "Revoke an API token, and what was made with it",
    usage: "footfall token revoke TOKEN_ID",
    notes: "It takes effect on every server within a second.",
    wordsMax: 1,
    options: {},
    example: "footfall token revoke tok_0aB1cD2eF3gH4iJ5kL6mN7",
    run: revoke,
  },
];
