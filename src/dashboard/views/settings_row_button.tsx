/// <reference lib="dom" />
import { Icon, type IconName } from "../icons.tsx";

interface RowButtonProps {
  readonly icon: IconName;
  readonly text: string;
  /** What it is done to. */
  readonly of: string;
  readonly onClick: () => void;
}

/** What can be done with a row of a table: on a phone its drawing alone is shown. */
export function RowButton({ icon, text, of, onClick }: RowButtonProps) {
  return (
    <button
      type="button"
      class="button button-quiet"
      aria-label={`${text} ${of}`}
      title={`${text} ${of}`}
      onClick={onClick}
    >
      <Icon name={icon} /> <span class="settings-action">{text}</span>
    </button>
  );
}
