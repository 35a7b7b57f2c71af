/// <reference lib="dom" />
import { useId } from "preact/hooks";
import type { Role } from "../../auth/roles.ts";
import { CheckField, Segments } from "../field.tsx";
import { project } from "../location_state.ts";
import { useProjectChoices } from "../project_search.tsx";
import { session } from "../session.ts";
import { ROLE_CHOICES } from "./settings_people_replies.ts";

export const EVERY_PROJECT = "*";

/** The default of a choice of projects: the current one. */
export function projectAtHand(): readonly string[] {
  return project.value === null ? [] : [project.value];
}

interface ProjectsFieldProps {
  readonly value: readonly string[];
  readonly onChange: (projects: readonly string[]) => void;
  readonly error?: string | null | undefined;
  /** False: whoever chooses may not grant all. */
  readonly mayAll?: boolean;
}

/** Which projects: all there are and will be, or some by name. */
export function ProjectsField({ value, onChange, error, mayAll = true }: ProjectsFieldProps) {
  const id = useId();
  const isAll = value.includes(EVERY_PROJECT);
  const { choices, search } = useProjectChoices(value);
  const toggle = (id: string) => (isChecked: boolean) =>
    onChange(isChecked ? [...value, id] : value.filter((each) => each !== id));
  return (
    <fieldset class="choice-list" aria-describedby={error ? `${id}-error` : undefined}>
      <legend class="field-label">Projects</legend>
      {mayAll && (
        <Segments
          label="Which projects"
          value={isAll ? "all" : "some"}
          choices={[{ value: "all", label: "All projects" }, { value: "some", label: "Some" }]}
          onChange={(choice) => onChange(choice === "all" ? [EVERY_PROJECT] : projectAtHand())}
        />
      )}
      {isAll ? <p class="field-hint">Those there are, and those there will be.</p> : (
        <>
          {search}
          <div class="choice-boxes">
            {choices.map((each) => (
              <CheckField
                key={each.id}
                label={each.name}
                isChecked={value.includes(each.id)}
                onChange={toggle(each.id)}
              />
            ))}
          </div>
        </>
      )}
      {error && <p id={`${id}-error`} class="field-error" role="alert">{error}</p>}
    </fieldset>
  );
}

interface RoleFieldProps {
  readonly value: Role;
  readonly onChange: (role: Role) => void;
}

/** The choice of a role. */
export function RoleField({ value, onChange }: RoleFieldProps) {
  const name = useId();
  return (
    <fieldset class="choice-list">
      <legend class="field-label">Role</legend>
      {ROLE_CHOICES.map((role) => (
        <label key={role.value} class="role">
          <input
            type="radio"
            name={name}
            checked={role.value === value}
            onChange={() => onChange(role.value)}
          />
          <span>
            <span class="role-name">{role.label}</span>
            <span class="field-hint">{role.hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** The names of projects; of those that are hidden from whoever is signed in, the ids. */
export function projectNames(ids: readonly string[]): string {
  if (ids.includes(EVERY_PROJECT)) return "All projects";
  const known = new Map(session.value?.projects.map(({ id, name }) => [id, name]));
  return ids.map((id) => known.get(id) ?? id).join(", ");
}
