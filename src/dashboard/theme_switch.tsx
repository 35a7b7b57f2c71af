/// <reference lib="dom" />
import { type Choice, Segments } from "./field.tsx";
import { type Theme, theme } from "./theme.ts";

const ICONS: readonly Choice[] = [
  { value: "system", label: "System colours", icon: "screen" },
  { value: "light", label: "Light", icon: "sun" },
  { value: "dark", label: "Dark", icon: "moon" },
];
const WORDS: readonly Choice[] = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

/** Light, dark, or as the system is: in icons, or in words. */
export function ThemeSwitch({ isInWords = false }: { isInWords?: boolean }) {
  return (
    <Segments
      label="Colours"
      value={theme.value}
      choices={isInWords ? WORDS : ICONS}
      onChange={(value) => theme.value = value as Theme}
    />
  );
}
