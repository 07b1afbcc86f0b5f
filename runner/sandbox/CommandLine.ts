/** A program and its arguments, for starting it inside or around a sandbox. */
export interface CommandLine {
  readonly program: string
  readonly args: ReadonlyArray<string>
}
