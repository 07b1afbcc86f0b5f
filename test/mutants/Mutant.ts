/**
 * A guard: a line of code that prevents a forbidden action, the smallest edit that removes it, and the test that detects the edit
 * within seconds.
 */
export interface Mutant {
  readonly name: string
  readonly file: string
  /** Exact text, which occurs once in the file. */
  readonly text: string
  readonly broken: string
  readonly test: string
}
