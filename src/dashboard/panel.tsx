/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { ApiProblem } from "./api_problem.ts";
import { Definition } from "./definition.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { Button } from "./button.tsx";
import type { Resource } from "./resource.ts";

/** Says what went wrong, in place of what is missing, with a button to try again. */
export function ErrorNote(
  { problem, onRetry }: { problem: ApiProblem | null; onRetry?: () => void },
) {
  return (
    <div class="note note-error" role="alert">
      <p class="note-title">This could not be loaded</p>
      <p>{problem?.detail ?? "Something went wrong."}</p>
      {onRetry && <Button icon="refresh" onClick={onRetry}>Try again</Button>}
    </div>
  );
}

/** Says why what is below is not up to date; nothing if it is. */
export function OldNote({ problem }: { problem: ApiProblem | null | undefined }) {
  return problem && <p class="banner" role="status">{problem.detail}</p>;
}

interface EmptyNoteProps {
  readonly title: string;
  readonly icon?: IconName;
  readonly children?: ComponentChildren;
}

/** Says that there is nothing, why, and perhaps what to do about it. */
export function EmptyNote({ title, icon, children }: EmptyNoteProps) {
  return (
    <div class="note">
      {icon && <Icon name={icon} size={24} />}
      <p class="note-title">{title}</p>
      {children && <div class="note-text">{children}</div>}
    </div>
  );
}

/** Grey lines in place of what is loading. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  return (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: rows }, (_, i) => <span key={i} class="skeleton-row" />)}
    </div>
  );
}

interface PanelProps {
  readonly title: string;
  readonly definition?: string | undefined;
  /** Buttons at the right of the title. */
  readonly actions?: ComponentChildren;
  /** The read that the panel shows, whose loading and error states it shows too. */
  readonly state?: Resource<unknown> | undefined;
  /** Shown instead of the children if there is nothing to show; false or null: there is. */
  readonly empty?: ComponentChildren;
  readonly skeletonRows?: number;
  readonly class?: string;
  /** Rendered while loading too, with the data so far. */
  readonly children?: ComponentChildren;
}

function PanelBody({ state, empty, skeletonRows = 6, children }: PanelProps) {
  if (state?.state === "error") {
    return <ErrorNote problem={state.problem} onRetry={state.reload} />;
  }
  if (state !== undefined && state.data === null) return <Skeleton rows={skeletonRows} />;
  return (
    <>
      <OldNote problem={state?.problem} />
      {empty || children}
    </>
  );
}

/** A titled part of a view with its own loading, empty and error states. */
export function Panel(props: PanelProps) {
  const { title, definition, actions, state } = props;
  const id = useId();
  const isLoading = state?.state === "loading";
  return (
    <section
      class={`panel ${props.class ?? ""}`}
      aria-labelledby={id}
      aria-busy={isLoading}
      data-state={state?.state}
    >
      <header class="panel-head">
        <h2 id={id} class="panel-title">{title}</h2>
        {definition && <Definition of={title} text={definition} />}
        <span class="panel-state visually-hidden" role="status">
          {isLoading && state?.data === null ? `Loading ${title}` : ""}
        </span>
        {actions && <div class="panel-actions">{actions}</div>}
      </header>
      <div class="panel-body">
        <PanelBody {...props} />
      </div>
    </section>
  );
}
