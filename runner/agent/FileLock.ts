import { closeSync, openSync } from "node:fs"
import { Effect, type Scope } from "effect"
import { linuxCalls } from "../sandbox/confinement/LinuxCalls.ts"

const exclusiveWithoutWaiting = 2 | 4

/**
 * Locks a file until the Scope closes, or until this process ends, however it ends. Returns whether it could: `false` while another
 * process has it.
 */
export const takeFileLock = (file: string): Effect.Effect<boolean, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const descriptor = openSync(file, "a", 0o600)
      if (linuxCalls().attempt("flock", descriptor, exclusiveWithoutWaiting) === 0) return descriptor
      closeSync(descriptor)
      return undefined
    }),
    (descriptor) =>
      Effect.sync(() => {
        if (descriptor !== undefined) closeSync(descriptor)
      })
  ).pipe(Effect.map((descriptor) => descriptor !== undefined))
