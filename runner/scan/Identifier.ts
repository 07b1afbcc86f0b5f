/** Matches an HCL identifier at exactly the position `lastIndex` in a string. */
export const identifierAt = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy

const identifier = /^[\p{ID_Start}_][\p{ID_Continue}-]*$/u

export const isIdentifier = (text: string): boolean => identifier.test(text)
