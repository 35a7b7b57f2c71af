/// <reference lib="dom" />
import { Button } from "../button.tsx";
import type { Column } from "../data_table.tsx";
import type { IconName } from "../icons.tsx";

/** An action on a row of a table. */
export interface RowAction<T> {
  readonly icon: IconName;
  readonly text: string | ((of: T) => string);
  /** Whether it can be done with this row; absent: with every one. */
  readonly isOffered?: (of: T) => boolean;
  readonly onClick: (of: T) => void;
}

/** A button; on a phone, its icon alone. */
function RowButton<T>({ action, of, name }: { action: RowAction<T>; of: T; name: string }) {
  const { icon, text, onClick } = action;
  const word = typeof text === "string" ? text : text(of);
  return (
    <Button
      icon={icon}
      kind="quiet"
      aria-label={`${word} ${name}`}
      title={`${word} ${name}`}
      onClick={() => onClick(of)}
    >
      <span class="settings-action">{word}</span>
    </Button>
  );
}

/** The column of each row's actions. `nameOf`: the name of a row, as it is read out. */
export function rowActions<T>(
  nameOf: (of: T) => string,
  actions: readonly RowAction<T>[],
): Column<T> {
  return {
    title: "Change",
    value: () => null,
    show: (of) => (
      <span class="settings-row-actions">
        {actions.filter(({ isOffered }) => isOffered?.(of) ?? true).map((action) => (
          <RowButton key={action.icon} action={action} of={of} name={nameOf(of)} />
        ))}
      </span>
    ),
  };
}
