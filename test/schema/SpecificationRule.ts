/** A rule in the specification's words (or the name of an attack), the file of its tests, and names that are in that file. */
export type SpecificationRule = readonly [rule: string, file: string, ...tests: ReadonlyArray<string>]
