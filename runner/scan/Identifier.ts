/** An HCL identifier, anywhere in a text at the expression's `lastIndex`. */
export const identifierAt = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy

const identifier = /^[\p{ID_Start}_][\p{ID_Continue}-]*$/u

export const isIdentifier = (text: string): boolean => identifier.test(text)
