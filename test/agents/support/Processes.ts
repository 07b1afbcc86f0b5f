import { openSync } from "node:fs"
import { Effect } from "effect"

/** A program that a case starts, kills and restarts. */
export interface Started {
  readonly pid: number
  readonly exited: Promise<number>
  readonly signal: (name: "SIGTERM" | "SIGKILL" | "SIGSTOP" | "SIGCONT") => void
  readonly stdout: ReadableStream<Uint8Array>
}

let outputs = 0

/** Starts a program, and kills it when the Scope closes. Writes its output to a file, which the suite searches for secrets. */
export const started = (
  command: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly env: Record<string, string>; readonly output: string }
) =>
  Effect.acquireRelease(
    Effect.sync((): Started => {
      outputs += 1
      const child = Bun.spawn([...command], {
        cwd: options.cwd,
        env: options.env,
        stdin: "ignore",
        stdout: "pipe",
        stderr: openSync(`${options.output}/${outputs}`, "w")
      })
      return {
        pid: child.pid,
        exited: child.exited,
        signal: (name) => {
          if (child.exitCode === null && child.signalCode === null) child.kill(name)
        },
        stdout: child.stdout
      }
    }),
    ({ exited, signal }) =>
      Effect.promise(() => {
        signal("SIGCONT")
        signal("SIGKILL")
        return exited
      })
  )

export const killed = (program: Started) =>
  Effect.promise(() => {
    program.signal("SIGKILL")
    return program.exited
  })
