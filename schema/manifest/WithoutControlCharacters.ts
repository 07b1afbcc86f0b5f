import { hasControlCharacter } from "./ControlCharacters.ts"
import { fieldRule } from "./FieldRule.ts"

/** Rejects control characters except tab, line feed and carriage return, and bidirectional controls. */
export const withoutControlCharacters = fieldRule<string>({
  code: "control_character",
  expected: "no control or bidirectional override characters",
  holds: (text) => !hasControlCharacter(text)
})
