/// <reference lib="dom" />
import { computed } from "@preact/signals";
import { useState } from "preact/hooks";
import { TextField } from "./field.tsx";
import { session, type SessionProject } from "./session.ts";

/** More projects are searched instead of listed: a menu of 10,000 takes 4.6 s to open, and 0.9 s to lay out. */
const LISTED_MAX = 100;
const FOUND_MAX = 50;

const projects = computed(() => session.value?.projects ?? []);
/** Whether there are too many projects to list them. */
export const hasMany = computed(() => projects.value.length > LISTED_MAX);

const hostOf = ({ siteUrl }: SessionProject) =>
  siteUrl === null ? null : URL.parse(siteUrl)?.host ?? siteUrl;

/** How well a project fits a text of small letters: 0 has it as a name, id or site, 1 begins so, 2 contains it. */
function fitOf({ id, name, siteUrl }: SessionProject, wanted: string): number | null {
  const texts = [name, id, siteUrl].flatMap((each) => each?.toLowerCase() ?? []);
  if (texts.includes(wanted)) return 0;
  if (texts.some((each) => each.startsWith(wanted))) return 1;
  return texts.some((each) => each.includes(wanted)) ? 2 : null;
}

/** Returns the projects whose name, id or site contains the text, in capitals or not: those that fit best, first. */
function foundProjects(text: string): readonly SessionProject[] {
  const wanted = text.trim().toLowerCase();
  const byFit = Map.groupBy(projects.value, (each) => fitOf(each, wanted));
  return [0, 1, 2].flatMap((fit) => byFit.get(fit) ?? []).slice(0, FOUND_MAX);
}

/** Projects by the texts that they are chosen by, each once: browsers show those that contain what is typed. */
function labelled(found: readonly SessionProject[], text: string): ReadonlyMap<string, string> {
  const wanted = text.trim().toLowerCase();
  const ids = new Map<string, string>();
  for (const each of found) {
    const { id, name, siteUrl } = each;
    const label = `${name} · ${hostOf(each) ?? id}`;
    const seen = [label, `${label} · ${id}`, `${label} · ${siteUrl}`]
      .filter((text) => text.toLowerCase().includes(wanted) && !ids.has(text));
    ids.set(seen[0] ?? `${label} · ${id}`, id);
  }
  return ids;
}

interface ProjectSearchProps {
  /** The name of what is shown. */
  readonly current: string;
  /** What leads to all projects. */
  readonly all: string;
  /** Called with an id; empty: all. */
  readonly onChoose: (id: string) => void;
}

/** A field that finds one of many projects by its name, id or site. */
export function ProjectSearch({ current, all, onChoose }: ProjectSearchProps) {
  // Null: the field is not in use, and shows the current project.
  const [text, setText] = useState<string | null>(null);
  const found = text === null ? [] : labelled(foundProjects(text), text);
  const ids = new Map([[all, ""], ...found]);
  const choose = (id: string | undefined) => {
    if (id === undefined) return;
    setText("");
    onChoose(id);
  };
  return (
    <form
      class="project-switch"
      onSubmit={(event) => {
        event.preventDefault();
        if (text?.trim()) choose([...ids.values()].find((id) => id !== ""));
      }}
      onFocusOut={() => setText(null)}
    >
      <TextField
        label="Project"
        isLabelHidden
        value={text ?? current}
        placeholder={current}
        suggestions={[...ids.keys()]}
        onFocus={() => setText("")}
        onChange={(next) => ids.has(next) ? choose(ids.get(next)) : setText(next)}
      />
    </form>
  );
}

/** The projects to tick, and the field that finds them if there are many: then those that are ticked stay. */
export function useProjectChoices(chosen: readonly string[]) {
  const [text, setText] = useState("");
  if (!hasMany.value) return { choices: projects.value, search: null };
  const found = foundProjects(text);
  const others = projects.value.filter((each) => chosen.includes(each.id) && !found.includes(each));
  const search = (
    // Enter would send the form that the field is in.
    <div onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}>
      <TextField
        label="Search projects"
        isLabelHidden
        value={text}
        placeholder="Search"
        onChange={setText}
      />
    </div>
  );
  return { choices: [...found, ...others], search };
}
