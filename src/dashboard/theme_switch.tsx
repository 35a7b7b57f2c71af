/// <reference lib="dom" />
import { Icon } from "./icons.tsx";
import { type Theme, theme } from "./theme.ts";

const THEMES: readonly { value: Theme; label: string; icon: "screen" | "sun" | "moon" }[] = [
  { value: "system", label: "System colours", icon: "screen" },
  { value: "light", label: "Light", icon: "sun" },
  { value: "dark", label: "Dark", icon: "moon" },
];

/** Light, dark, or as the system is. */
export function ThemeSwitch() {
  return (
    <div class="segments" role="group" aria-label="Colours">
      {THEMES.map(({ value, label, icon }) => (
        <button
          key={value}
          type="button"
          class="segment"
          aria-label={label}
          aria-pressed={theme.value === value}
          title={label}
          onClick={() => theme.value = value}
        >
          <Icon name={icon} />
        </button>
      ))}
    </div>
  );
}
