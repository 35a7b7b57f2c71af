/// <reference lib="dom" />
import { numberText } from "../behind_words.ts";
import { Icon } from "../icons.tsx";
import { effectiveTimezone, go } from "../location_state.ts";
import { counted } from "../number_format.ts";

/** One choice of the address that narrows a list, and the way to take it away. */
export function Narrowed({ name, text }: { name: string; text: string }) {
  return (
    <span class="chip">
      <span class="chip-text" title={text}>{text}</span>
      <button
        type="button"
        class="chip-close"
        aria-label={`Remove: ${text}`}
        onClick={() => go({ params: { [name]: null } })}
      >
        <Icon name="close" size={12} />
      </button>
    </span>
  );
}

interface CountedChipProps {
  /** The number of another read, as the address has it. */
  readonly of: string;
  /** What it is; undefined: not known yet. */
  readonly total: number | undefined;
  readonly listed: "visits" | "people";
}

/** Of which number a list shows those whom it counts. */
export function CountedChip({ of, total, listed }: CountedChipProps) {
  const text = numberText(of, effectiveTimezone.value);
  const count = total === undefined
    ? ""
    : listed === "visits"
    ? `${counted(total, "visit")}: `
    : `${counted(total, "person", "people")}: `;
  return <Narrowed name="of" text={`${count}${text}`} />;
}
