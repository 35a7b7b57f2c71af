/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import { type EventMatch, matchBody, MatchEditor } from "../match_editor.tsx";
import { textOfMatch } from "./trends_match.ts";

interface MatchFieldProps {
  readonly label: string;
  readonly match: EventMatch;
  /** Called with complete matches only: once a name is left or picked, or a condition is complete. */
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
  const given = textOfMatch(match);
  useEffect(() => {
    // The back button may bring another match; with the same one, unfinished conditions stay.
    if (textOfMatch(matchBody(latest.current)) !== given) change(match);
  }, [given]);
  const apply = () => {
    const body = matchBody(latest.current);
    if (textOfMatch(body) !== given) onChange(body);
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
