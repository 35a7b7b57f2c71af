/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import { type EventMatch, matchBody, MatchEditor } from "../match_editor.tsx";
import { textOfMatch } from "./trends_match.ts";

interface MatchFieldProps {
  readonly label: string;
  readonly match: EventMatch;
  /** Hears of whole matches alone: once a name is left or picked, or a condition is complete. */
  readonly onChange: (match: EventMatch) => void;
}

const filtersText = (match: EventMatch): string => JSON.stringify(matchBody(match).filters);

/** Edits an event match that takes effect by itself, but not at every letter. */
export function MatchField({ label, match, onChange }: MatchFieldProps) {
  const [draft, setDraft] = useState(match);
  const latest = useRef(draft);
  const change = (next: EventMatch) => {
    latest.current = next;
    setDraft(next);
  };
  const said = textOfMatch(match);
  useEffect(() => {
    // The way back brings another match; conditions that are being written stay where it is the same.
    if (textOfMatch(matchBody(latest.current)) !== said) change(match);
  }, [said]);
  const apply = () => {
    const body = matchBody(latest.current);
    if (textOfMatch(body) !== said) onChange(body);
  };
  return (
    <div onChange={apply}>
      <MatchEditor
        label={label}
        value={draft}
        onChange={(next) => {
          change(next);
          if (filtersText(next) !== filtersText(match)) apply();
        }}
      />
    </div>
  );
}
