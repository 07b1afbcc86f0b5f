/** Height of a log row in pixels, as in the style sheet. */
export const lineHeight = 20
