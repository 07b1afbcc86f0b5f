import { hasControlCharacter } from "./ControlCharacters.ts"
import { fieldRule } from "./FieldRule.ts"

/** No control characters other than tab, line feed and carriage return, and no bidirectional controls. */
export const withoutControlCharacters = fieldRule<string>({
  code: "control_character",
  expected: "no control or bidirectional override characters",
  holds: (text) => !hasControlCharacter(text)
})
