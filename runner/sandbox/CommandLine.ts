/** A program and its arguments, as it is started inside or around a sandbox. */
export interface CommandLine {
  readonly program: string
  readonly args: ReadonlyArray<string>
}
