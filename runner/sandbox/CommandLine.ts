/** A program and its arguments, to be started inside or around a sandbox. */
export interface CommandLine {
  readonly program: string
  readonly args: ReadonlyArray<string>
}
