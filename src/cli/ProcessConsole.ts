import { writeSync } from "node:fs"
import { formatWithOptions } from "node:util"
import type { Console } from "effect"
import { OutputFailed } from "./Output.ts"

const [standardOutput, standardError] = [1, 2]
const pauseMillis = 5

const errnoOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unknown"

const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMillis)

/** Writes everything, or throws the system's error. */
const write = (descriptor: number, values: ReadonlyArray<unknown>): void => {
  let rest: Uint8Array = new TextEncoder().encode(`${formatWithOptions({ colors: false }, ...values)}\n`)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest))
    } catch (cause) {
      // Wait if the pipe is full because its reader is slow.
      if (errnoOf(cause) !== "EAGAIN") throw cause
      pause()
    }
  }
}

/**
 * The console of a command. Unlike the runtime's console, it throws `OutputFailed` if standard output does not accept the
 * text, and it never prints colours to standard error. A call returns only after everything has been written, so the process
 * may exit immediately.
 */
export const processConsole: Console.Console = {
  ...globalThis.console,
  log: (...values) => {
    try {
      write(standardOutput, values)
    } catch (cause) {
      const errno = errnoOf(cause)
      throw new OutputFailed({ errno, message: `Standard output could not be written (${errno}).` })
    }
  },
  error: (...values) => {
    try {
      write(standardError, values)
    } catch {
      // Standard error has failed, so the failure cannot be reported anywhere.
    }
  }
}
