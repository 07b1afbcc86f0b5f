/** A rule in the specification's words (or the id of an attack), the file of its tests, and titles that the file contains. */
export type SpecificationRule = readonly [rule: string, file: string, ...tests: ReadonlyArray<string>]
