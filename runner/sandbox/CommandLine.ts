/** A program and its arguments, to start inside or around a sandbox. */
export interface CommandLine {
  readonly program: string
  readonly args: ReadonlyArray<string>
}
