/** A rule in the specification's words (or the id of an attack), its test file, and the titles of the tests in that file. */
export type SpecificationRule = readonly [rule: string, file: string, ...tests: ReadonlyArray<string>]
