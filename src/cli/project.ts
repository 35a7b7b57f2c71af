import { type Call, type Command, type OptionSpec, UsageMistake } from "./command.ts";
import { callApi, listProjects, type ShownProject, withConnection } from "./connection.ts";
import { printable } from "./terminal.ts";
import { counted } from "../number_words.ts";

const SETTINGS: Readonly<Record<string, OptionSpec>> = {
  "name": { type: "string", placeholder: "NAME", meaning: "what people call it" },
  "site-url": {
    type: "string",
    mayBeEmpty: true,
    placeholder: "URL",
    meaning: "the site, e.g. https://shop.example; '' takes it away",
  },
  "timezone": {
    type: "string",
    placeholder: "ZONE",
    meaning: "IANA time zone, e.g. Europe/Berlin",
  },
  "allowed-origin": {
    type: "string",
    multiple: true,
    mayBeEmpty: true,
    placeholder: "ORIGIN",
    meaning: "pages that may send events; may be repeated; none: all; '' empties the list",
  },
  "ip-storage": {
    type: "string",
    placeholder: "full|truncated|none",
    meaning: "overrides IP_STORAGE; default takes the override away",
  },
  "retention-days": {
    type: "string",
    placeholder: "DAYS",
    meaning: "older events are deleted; 0: kept for ever",
  },
};

const RETENTION_DAYS_PARSED_MAX = 1_000_000;

/** Returns the given options under the names of the API. */
function settingsOf({ options }: Call): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  const put = (name: string, value: unknown) => {
    if (value !== null) settings[name] = value;
  };
  put("name", options.text("name"));
  put("timezone", options.text("timezone"));
  put("allowedOrigins", options.list("allowed-origin")?.filter((origin) => origin !== "") ?? null);
  const siteUrl = options.text("site-url");
  if (siteUrl !== null) settings.siteUrl = siteUrl === "" ? null : siteUrl;
  const ipStorage = options.text("ip-storage");
  if (ipStorage !== null) settings.ipStorage = ipStorage === "default" ? null : ipStorage;
  const days = options.integer("retention-days", 0, RETENTION_DAYS_PARSED_MAX);
  if (days !== null) settings.retentionDays = days === 0 ? null : days;
  return settings;
}

function describe(project: ShownProject): string {
  return [
    ["id", project.id],
    ["name", project.name],
    ["site", project.siteUrl ?? "–"],
    ["time zone", project.timezone],
    ["allowed origins", project.allowedOrigins.join(", ") || "all"],
    ["IP storage", project.ipStorage ?? "as IP_STORAGE says"],
    [
      "retention",
      project.retentionDays === null ? "for ever" : counted(project.retentionDays, "day"),
    ],
  ].map(([label, value]) => `${label!.padEnd(16)}${printable(value!)}\n`).join("");
}

async function list(call: Call): Promise<void> {
  const projects = await withConnection(call, listProjects);
  call.print.result(
    { projects },
    () =>
      call.print.table(
        ["ID", "NAME", "SITE", "TIME ZONE", "RETENTION"],
        projects.map((project) => [
          project.id,
          project.name,
          project.siteUrl,
          project.timezone,
          project.retentionDays === null ? null : counted(project.retentionDays, "day"),
        ]),
      ),
  );
}

async function create(call: Call): Promise<void> {
  if (call.options.text("name") === null) throw new UsageMistake("Give the project a --name.");
  const id = call.options.text("id");
  const wanted = { ...settingsOf(call), ...(id === null ? {} : { id }) };
  const project = await withConnection(
    call,
    (connection) => callApi<ShownProject>(connection, "POST", "/v1/projects", wanted),
  );
  call.print.result(project, () => describe(project));
  call.print.remark(`\nNext: ${call.config.footfallHere} key create --project ${project.id}`);
}

async function set(call: Call): Promise<void> {
  const id = call.options.text("id") ?? call.words[0] ?? null;
  if (id === null) throw new UsageMistake("Say which project is meant: --id prj_….");
  const wanted = settingsOf(call);
  if (Object.keys(wanted).length === 0) {
    throw new UsageMistake("Say what to change, e.g. --timezone Europe/Berlin.");
  }
  const path = `/v1/projects/${encodeURIComponent(id)}`;
  const project = await withConnection(
    call,
    (connection) => callApi<ShownProject>(connection, "PATCH", path, wanted),
  );
  call.print.result(project, () => describe(project));
}

const ID_OPTION: OptionSpec = {
  type: "string",
  placeholder: "ID",
  meaning: "prj_… of the project",
};

export const PROJECT_COMMANDS: readonly Command[] = [
  {
    name: "project list",
    summary: "List the projects",
    usage: "footfall project list",
    wordsMax: 0,
    options: {},
    example: "footfall project list",
    run: list,
  },
  {
    name: "project create",
    summary: "Create a project",
    usage: "footfall project create --name NAME [options]",
    wordsMax: 0,
    options: { ...SETTINGS, id: { ...ID_OPTION, default: "a new one" } },
    example: 'footfall project create --name "My shop" --site-url https://shop.example',
    run: create,
  },
  {
    name: "project set",
    summary: "Change a project's settings",
    usage: "footfall project set --id ID [options]",
    wordsMax: 1,
    options: { id: ID_OPTION, ...SETTINGS },
    example: "footfall project set --id prj_default --retention-days 365",
    run: set,
  },
];
