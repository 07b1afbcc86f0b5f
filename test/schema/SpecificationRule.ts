/** A rule in the specification's words (or the id of an attack), with its test file and the titles of its tests. */
export type SpecificationRule = readonly [rule: string, file: string, ...tests: ReadonlyArray<string>]
