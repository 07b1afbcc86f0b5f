/**
 * A guard: a line of the code that stands between a caller and what it must not do, the smallest edit that opens it, and the test that
 * notices, which ends within seconds.
 */
export interface Mutant {
  readonly name: string
  readonly file: string
  /** Exact text, found once in the file. */
  readonly text: string
  readonly broken: string
  readonly test: string
}
