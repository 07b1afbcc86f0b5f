const isForbiddenCharacter = (unit: number) =>
  // C0 except tab, line feed and carriage return; DEL and C1.
  (unit < 0x20 && unit !== 0x09 && unit !== 0x0a && unit !== 0x0d) ||
  (unit >= 0x7f && unit <= 0x9f) ||
  // Bidirectional embeddings, overrides and isolates, which make one string look like another.
  (unit >= 0x202a && unit <= 0x202e) ||
  (unit >= 0x2066 && unit <= 0x2069)

/** Returns true if the text contains C0 characters except tab and line breaks, DEL, C1, or bidirectional controls. */
export const hasControlCharacter = (text: string): boolean => {
  for (let index = 0; index < text.length; index++) {
    if (isForbiddenCharacter(text.charCodeAt(index))) return true
  }
  return false
}
