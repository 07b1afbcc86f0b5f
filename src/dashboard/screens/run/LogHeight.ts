/** Pixels of a row of the log; the style sheet has the same. */
export const lineHeight = 20
