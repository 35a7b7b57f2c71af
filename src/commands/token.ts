import type { Call, Command } from "./command.ts";
import { callApi, withConnection } from "./connection.ts";
import { durationSeconds } from "./duration.ts";

const SCOPE_DEFAULT = "read";
const TTL_DEFAULT = "30d";

async function token(call: Call): Promise<void> {
  const { options, print } = call;
  const subject = options.text("subject");
  const wanted = {
    projects: options.list("project") ?? ["*"],
    scope: options.text("scope") ?? SCOPE_DEFAULT,
    ttlSeconds: durationSeconds(options.text("ttl") ?? TTL_DEFAULT, "ttl"),
    ...(subject === null ? {} : { subject }),
  };
  const issued = await withConnection(call, async (connection) => ({
    ...await callApi<{ token: string; expiresAt: string }>(
      connection,
      "POST",
      "/v1/internal/tokens",
      wanted,
    ),
    url: connection.url,
  }));
  // The fragment stays in the browser: no server or proxy log sees the token.
  const link = `${issued.url}/#token=${issued.token}`;
  const shown = options.flag("link") ? link : issued.token;
  print.result(
    { token: issued.token, expiresAt: issued.expiresAt, link },
    () => `${shown}\n`,
  );
  if (print.terminal.outIsTerminal) print.remark(`Valid until ${issued.expiresAt}.`);
}

export const TOKEN_COMMAND: Command = {
  name: "token",
  summary: "Issue a token for reading or administration",
  usage: "footfall token [options]",
  wordsMax: 0,
  options: {
    project: {
      type: "string",
      multiple: true,
      placeholder: "ID",
      default: "every project",
      meaning: "project it may see; may be repeated",
    },
    scope: {
      type: "string",
      placeholder: '"WORD …"',
      default: SCOPE_DEFAULT,
      meaning: "what it may do: read, write, jobs, admin",
    },
    ttl: {
      type: "string",
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
