/// <reference lib="dom" />
import { numberText } from "../behind_words.ts";
import { Icon } from "../icons.tsx";
import { effectiveTimezone, go } from "../location_state.ts";
import { counted } from "../number_format.ts";

/** A choice of the address that narrows a list, with a button to remove it. */
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
  /** Its value; undefined: not known yet. */
  readonly total: number | undefined;
  readonly listed: "visits" | "people";
}

/** Names the number whose people or visits are listed. */
export function CountedChip({ of, total, listed }: CountedChipProps) {
  const text = numberText(of, effectiveTimezone.value);
  const count = total === undefined
    ? ""
    : listed === "visits"
    ? `${counted(total, "visit")}: `
    : `${counted(total, "person", "people")}: `;
  return <Narrowed name="of" text={`${count}${text}`} />;
}
