import assert from "node:assert/strict";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;
const PAGE_LINES_MAX = 300;

/** What each part of src/ may import from. Data flows one way: route → handler → domain → SQL. */
const MAY_IMPORT: Readonly<Record<string, string>> = {
  limits: "",
  json_text: "",
  number_words: "",
  recent_cache: "",
  turns: "",
  reserved_terms: "",
  problem: "limits",
  project_values: "",
  schema_mistakes: "number_words",
  text_schemas: "limits",
  event_id: "",
  postgres_url: "",
  typed_command: "",
  readable_path: "",
  amplitude_names: "",
  db: "json_text limits postgres_url recent_cache",
  start_mistake: "db problem",
  http: "db json_text limits problem recent_cache schema_mistakes turns",
  mail: "http",
  config: "http limits mail postgres_url project_values typed_command",
  audit: "db http limits query",
  auth: "audit db http limits mail number_words problem project_values recent_cache " +
    "text_schemas turns",
  attribution: "",
  store: "db json_text limits recent_cache turns",
  ingest: "auth db event_id http json_text limits problem recent_cache schema_mistakes store " +
    "text_schemas turns",
  clients: "amplitude_names auth event_id http ingest json_text limits problem recent_cache " +
    "turns",
  projection: "attribution db http limits recent_cache reserved_terms store turns",
  upgrade: "db http ingest json_text projection store text_schemas turns",
  archive: "audit auth db http ingest json_text limits number_words problem projection store " +
    "text_schemas upgrade",
  timelines: "db json_text limits recent_cache reserved_terms store",
  query: "db json_text limits number_words problem reserved_terms schema_mistakes " +
    "text_schemas",
  scans: "auth db json_text limits query reserved_terms store timelines turns",
  screenshots: "auth db http limits number_words problem query reserved_terms scans timelines " +
    "turns",
  imported: "attribution audit auth db http limits problem query text_schemas",
  reports: "attribution auth db event_file http imported json_text limits notes number_words " +
    "problem query readable_path reserved_terms scans screenshots store text_schemas " +
    "timelines turns",
  assistants: "http json_text number_words problem query reports",
  notes: "audit auth db http limits problem query text_schemas",
  shares: "audit auth db http limits problem query recent_cache text_schemas turns",
  notifications: "audit auth db http limits mail number_words problem project_values query " +
    "readable_path reports screenshots text_schemas",
  demo: "limits",
  event_file: "json_text",
  importers: "amplitude_names attribution event_file event_id imported json_text limits " +
    "number_words query recent_cache text_schemas",
  dashboard: "audit auth event_file importers notes notifications number_words query " +
    "readable_path reports screenshots shares",
  sdk: "",
  bundle_build: "db",
  bundles: "bundle_build",
  server: "archive assistants audit auth clients config db http imported importers ingest " +
    "limits mail notes notifications number_words problem project_values projection " +
    "query recent_cache reports scans screenshots shares start_mistake timelines " +
    "upgrade",
  cli: "archive auth config db demo event_file http imported importers ingest json_text " +
    "limits number_words postgres_url problem project_values query reports server " +
    "start_mistake store turns typed_command",
};
/** Between domains only these are imported, and as types alone. */
const TYPES_ONLY: Readonly<Record<string, readonly string[]>> = {
  ingest: ["auth"],
  clients: ["auth"],
  screenshots: ["auth"],
  reports: ["auth"],
  scans: ["auth"],
  dashboard: [
    "audit",
    "auth",
    "importers",
    "notes",
    "notifications",
    "query",
    "reports",
    "screenshots",
    "shares",
  ],
};

/** The folders of src/reports that reports share, and which of these each may import from. */
const SHARED_BY_REPORTS: Readonly<Record<string, readonly string[]>> = {
  saved: [],
  visitors: [],
  shown: [],
  ranked: [],
  rollups: ["visitors"],
  behind: ["visitors"],
  newest: ["behind", "visitors"],
  answer: ["rollups", "saved", "visitors"],
  imported: ["answer"],
};

interface Import {
  readonly target: string;
  readonly typeOnly: boolean;
}

interface Source {
  readonly path: string;
  readonly lines: readonly string[];
  readonly imports: readonly Import[];
}

function* files(folder: string): Generator<string> {
  for (const entry of Deno.readDirSync(join(ROOT, folder))) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* files(path);
    else if (/\.(?:tsx?|css)$/.test(entry.name)) yield path;
  }
}

const IMPORT = /^(?:import|export)\s+(type\s+)?([^;"]*?from\s+)?"(\.[^"]+)"/gm;

/** An import is of types alone where `type` stands before the list or before each of its names. */
function isTypeOnly(keyword: string | undefined, clause: string | undefined): boolean {
  if (keyword !== undefined) return true;
  const names = /\{([^}]*)\}/.exec(clause ?? "")?.[1]?.split(",").map((name) => name.trim());
  return names?.every((name) => name === "" || name.startsWith("type ")) ?? false;
}

function read(path: string): Source {
  const text = Deno.readTextFileSync(join(ROOT, path));
  const imports = [...text.matchAll(IMPORT)].map(([, keyword, clause, target]) => ({
    target: normalize(join(dirname(path), target!)),
    typeOnly: isTypeOnly(keyword, clause),
  }));
  return { path, lines: text.trimEnd().split("\n"), imports };
}

const sources = [...files("src"), "main.ts"].map(read);
const everything = [...sources, ...[...files("tests"), ...files("bench")].map(read)];

const partOf = (path: string) => path.replace(/^src\//, "").replace(/[/.].*$/, "");

Deno.test("tidy: every part of src imports only from the parts below it", () => {
  const wrong: string[] = [];
  for (const { path, imports } of sources) {
    if (path === "main.ts") continue;
    const part = partOf(path);
    const allowed = MAY_IMPORT[part]?.split(" ");
    if (allowed === undefined) wrong.push(`${path}: its part is not in the table`);
    for (const { target, typeOnly } of imports) {
      if (!target.startsWith("src/")) continue;
      const other = partOf(target);
      if (other !== part && !allowed?.includes(other)) wrong.push(`${path} → ${target}`);
      if (TYPES_ONLY[part]?.includes(other) && !typeOnly) {
        wrong.push(`${path} → ${target}: types only`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("tidy: a report imports from shared folders alone, and these only as their table says", () => {
  const folderOf = (path: string) => /^src\/reports\/([^/]+)\//.exec(path)?.[1] ?? null;
  const wrong: string[] = [];
  for (const { path, imports } of sources) {
    if (!path.startsWith("src/reports/")) continue;
    const folder = folderOf(path);
    if (folder === null) wrong.push(`${path}: it is in no folder`);
    const allowed = SHARED_BY_REPORTS[folder ?? ""] ?? Object.keys(SHARED_BY_REPORTS);
    for (const { target } of imports) {
      const other = folderOf(target);
      if (other === null || other === folder || allowed.includes(other)) continue;
      wrong.push(`${path} → ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("tidy: no file imports itself by a detour", () => {
  const graph = new Map(sources.map(({ path, imports }) => [path, imports.map((i) => i.target)]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(path), `cycle: ${[...trail, path].join(" → ")}`);
    if (done.has(path)) return;
    for (const target of graph.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
});

Deno.test(`tidy: no file has more than ${FILE_LINES_MAX} lines`, () => {
  const long = everything.filter(({ lines }) => lines.length > FILE_LINES_MAX)
    .map(({ path, lines }) => `${path}: ${lines.length}`);
  assert.deepEqual(long, []);
});

/** Formatted code ends a function at the first closing brace of its own indentation. */
function* functionLengths({ path, lines }: Source): Generator<{ at: string; length: number }> {
  const opening =
    /^(\s*)(?:export )?(?:async )?(?:function\b|static |get |#?\w+(?:<.*>)?\(|const \w+ = (?:async )?\().*(?:\{|\()$/;
  for (const [i, line] of lines.entries()) {
    const indent = opening.exec(line)?.[1];
    if (indent === undefined || /^\s*(?:if|for|while|switch|return|await|else)\b/.test(line)) {
      continue;
    }
    const end = lines.findIndex((other, j) =>
      j > i && other.startsWith(indent) && /^\}/.test(other.slice(indent.length)) &&
      !/\{$/.test(other)
    );
    if (end > i) yield { at: `${path}:${i + 1}`, length: end - i + 1 };
  }
}

Deno.test(`tidy: no function of src has more than ${FUNCTION_LINES_MAX} lines`, () => {
  const lengths = sources.flatMap((source) => [...functionLengths(source)]);
  assert.ok(lengths.length > 100, "the functions were found");
  const long = lengths.filter(({ length }) => length > FUNCTION_LINES_MAX)
    .map(({ at, length }) => `${at}: ${length}`);
  assert.deepEqual(long, []);
});

Deno.test("tidy: the environment is read in src/config/environment.ts alone", () => {
  const readers = sources.filter(({ lines }) => lines.some((line) => line.includes("Deno.env")))
    .map(({ path }) => path);
  assert.deepEqual(readers, ["src/config/environment.ts"]);
});

Deno.test("tidy: no test sends a signal to its own process, which runs other tests too", () => {
  const own = new RegExp(String.raw`\bkill\(Deno\.` + "pid");
  const senders = everything.filter(({ lines }) => lines.some((line) => own.test(line)));
  assert.deepEqual(senders.map(({ path }) => path), []);
});

Deno.test("tidy: no hook runs before or after each test, which would be those of other files too", () => {
  const hook = new RegExp(String.raw`Deno\.test\.(?:before|after)` + "Each");
  const users = everything.filter(({ lines }) => lines.some((line) => hook.test(line)));
  assert.deepEqual(users.map(({ path }) => path), []);
});

Deno.test("tidy: no barrels, and no file named for what it does not hold", () => {
  const named = sources.filter(({ path }) =>
    /(?:^|\/)(?:index|mod|utils?|helpers?|common|types|misc)\.ts$/.test(path)
  );
  const barrels = sources.filter(({ lines }) =>
    lines.some((line) => /^export (?:\*|\{[^}]*\}) from/.test(line))
  );
  assert.deepEqual([...named, ...barrels].map(({ path }) => path), []);
});

Deno.test("tidy: the permission sets name every variable that the configuration knows", async () => {
  const { CONFIG_VARIABLES } = await import("../src/config/config_variables.ts");
  const manifest = JSON.parse(Deno.readTextFileSync(join(ROOT, "deno.json")));
  for (const set of ["serve", "container"]) {
    const allowed: string[] = manifest.permissions[set].env;
    const missing = CONFIG_VARIABLES.filter(({ name }) => !allowed.includes(name));
    assert.deepEqual(missing, [], `permissions.${set}.env in deno.json`);
  }
});

Deno.test("tidy: the configuration table lists every variable as --help does", async () => {
  const { CONFIG_VARIABLES } = await import("../src/config/config_variables.ts");
  const page = Deno.readTextFileSync(join(ROOT, "docs/configuration.md"));
  const rows = page.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const missing = CONFIG_VARIABLES.filter((variable) =>
    !rows.some(([, name, given, meaning]) =>
      name === `\`${variable.name}\`` && given?.replaceAll("`", "") === variable.default &&
      meaning === variable.meaning
    )
  );
  assert.deepEqual(missing.map(({ name }) => name), []);
});

Deno.test("tidy: the page of the command line has every command", async () => {
  const { allCommands } = await import("../src/cli/commands.ts");
  const page = Deno.readTextFileSync(join(ROOT, "docs/command-line.md"));
  const missing = (await allCommands()).map(({ name }) => name)
    .filter((name) => !new RegExp(`footfall ${name}\\b`).test(page));
  assert.deepEqual(missing, []);
});

Deno.test("tidy: .env.example has every variable, each as a comment", async () => {
  const { CONFIG_VARIABLES } = await import("../src/config/config_variables.ts");
  const lines = Deno.readTextFileSync(join(ROOT, ".env.example")).split("\n");
  const missing = CONFIG_VARIABLES.filter(({ name }) =>
    !lines.some((line) => line.startsWith(`#${name}=`))
  );
  assert.deepEqual(missing.map(({ name }) => name), []);
});

const PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md"].concat(
  [...Deno.readDirSync(join(ROOT, "docs"))].map(({ name }) => `docs/${name}`),
);

Deno.test("tidy: no page of the manual has more than 300 lines", () => {
  const long = PAGES.filter((page) =>
    Deno.readTextFileSync(join(ROOT, page)).split("\n").length > PAGE_LINES_MAX
  );
  assert.deepEqual(long, []);
});

/** The anchor that a heading gets where Markdown is shown. */
function anchorOf(heading: string): string {
  return heading.toLowerCase().replace(/[^\w\s-]/g, "").trim().replace(/\s/g, "-");
}

Deno.test("tidy: every link of the manual leads to a page, and to a heading that it has", () => {
  const broken: string[] = [];
  for (const page of PAGES) {
    const links = Deno.readTextFileSync(join(ROOT, page)).matchAll(/\]\(([^)\s]+)\)/g);
    for (const [, link = ""] of links) {
      if (/^https?:/.test(link)) continue;
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? page : normalize(join(dirname(page), path));
      try {
        const headings = Deno.readTextFileSync(join(ROOT, target)).matchAll(/^#+ (.*)$/gm);
        const anchors = [...headings].map(([, heading = ""]) => anchorOf(heading));
        if (anchor !== undefined && !anchors.includes(anchor)) broken.push(`${page}: ${link}`);
      } catch {
        broken.push(`${page}: ${link}`);
      }
    }
  }
  assert.deepEqual(broken, []);
});
