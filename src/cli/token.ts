import { scopesOf } from "../auth/roles.ts";
import { type Call, type Command, PROJECTS_OPTION } from "./command.ts";
import { callApi, withConnection } from "./connection.ts";
import { durationSeconds } from "./duration.ts";
import { requireProjects } from "./named_projects.ts";

const SCOPE_DEFAULT = "read";
const EVERYTHING = scopesOf("owner");
const TTL_DEFAULT = "30d";

async function token(call: Call): Promise<void> {
  const { options, print } = call;
  const subject = options.text("subject");
  const scopeDefault = options.flag("link") ? EVERYTHING.join(" ") : SCOPE_DEFAULT;
  const wanted = {
    projects: options.list("project") ?? ["*"],
    scope: options.text("scope") ?? scopeDefault,
    ttlSeconds: durationSeconds(options.text("ttl") ?? TTL_DEFAULT, "ttl"),
    ...(subject === null ? {} : { subject }),
  };
  const issued = await withConnection(call, async (connection) => {
    await requireProjects(connection, wanted.projects);
    const path = "/v1/internal/tokens";
    type Issued = { token: string; expiresAt: string };
    return { ...await callApi<Issued>(connection, "POST", path, wanted), url: connection.url };
  });
  // The fragment stays in the browser: no server or proxy log sees the token.
  const link = `${call.config.publicUrl ?? issued.url}/#token=${issued.token}`;
  const shown = options.flag("link") ? link : issued.token;
  print.result(
    { token: issued.token, expiresAt: issued.expiresAt, link },
    () => `${shown}\n`,
  );
  if (print.terminal.outIsTerminal) print.remark(`Valid until ${issued.expiresAt}.`);
}

async function revokeAll(call: Call): Promise<void> {
  const revoked = await withConnection(
    call,
    (connection) =>
      callApi<{ revokedAt: string; sessionsEnded: number }>(
        connection,
        "DELETE",
        "/v1/internal/tokens",
      ),
  );
  call.print.result(
    revoked,
    () =>
      `Every token, session and invitation until ${revoked.revokedAt} is revoked, on every ` +
      `server. Signed out: ${revoked.sessionsEnded}.\n`,
  );
}

const ISSUE_COMMAND: Command = {
  name: "token",
  summary: "Issue a token for reading or administration",
  usage: "footfall token [options]",
  wordsMax: 0,
  options: {
    project: PROJECTS_OPTION,
    scope: {
      type: "string",
      placeholder: '"WORD …"',
      default: `${SCOPE_DEFAULT}; with --link, all of them`,
      meaning: `what it may do: ${EVERYTHING.join(", ")}`,
    },
    ttl: {
      type: "string",
      of: "ttlSeconds",
      placeholder: "TIME",
      default: TTL_DEFAULT,
      meaning: "how long it is valid: 15m, 12h, 30d",
    },
    subject: { type: "string", placeholder: "TEXT", meaning: "who it is for" },
    link: { type: "boolean", meaning: "print a link that opens the dashboard signed in" },
  },
  example: 'footfall token --project prj_default --scope "read write" --ttl 12h',
  run: token,
};

const REVOKE_ALL_COMMAND: Command = {
  name: "token revoke-all",
  summary: "Revoke every token, session and invitation so far",
  usage: "footfall token revoke-all",
  notes:
    "It takes effect on every server within a second. People sign in again; their passwords and\n" +
    "passkeys, shared dashboards and API keys stay as they are. Tokens of an identity\n" +
    "provider are judged by their `iat`.",
  wordsMax: 0,
  options: {},
  example: "footfall token revoke-all",
  run: revokeAll,
};

export const TOKEN_COMMANDS: readonly Command[] = [ISSUE_COMMAND, REVOKE_ALL_COMMAND];
