import { closeSync, openSync } from "node:fs"
import { Effect, type Scope } from "effect"

const exclusiveWithoutWaiting = 2 | 4

/** Locks a file until the scope closes or this process exits. Returns `false` while another process holds the lock. */
export const takeFileLock = Effect.fnUntraced(function* (file: string): Effect.fn.Return<boolean, never, Scope.Scope> {
  // Loaded on demand, because a server without agents also runs on platforms without these calls.
  const { linuxCalls } = yield* Effect.promise(() => import("../sandbox/confinement/LinuxCalls.ts"))
  const descriptor = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const opened = openSync(file, "a", 0o600)
      if (linuxCalls().attempt("flock", opened, exclusiveWithoutWaiting) === 0) return opened
      closeSync(opened)
      return undefined
    }),
    (taken) =>
      Effect.sync(() => {
        if (taken !== undefined) closeSync(taken)
      })
  )
  return descriptor !== undefined
})
