import { stat } from "node:fs/promises"
import { Context, Effect, Option } from "effect"
import { hasProperty } from "effect/Predicate"
import type { ToolIdentity } from "../../schema/records/Run.ts"

const most = 32

/**
 * Differs after any change to the file, even one that preserves its date and size. Fails with the system's name for the error,
 * such as `ENOENT`.
 */
export const fileVersion = (path: string): Effect.Effect<string, string> =>
  Effect.tryPromise({
    try: () => stat(path, { bigint: true }),
    catch: (error) => (hasProperty(error, "code") ? String(error.code) : "unknown")
  }).pipe(Effect.map(({ ctimeNs, dev, ino, mtimeNs, size }) => [path, dev, ino, size, mtimeNs, ctimeNs].join(":")))

const makeKnownTools = () => {
  const known = new Map<string, ToolIdentity>()
  return {
    /** The executable's cached report about itself, or the result of `ask`. A failure is not cached. */
    identityOf: Effect.fnUntraced(function* <E, R>(path: string, ask: Effect.Effect<ToolIdentity, E, R>) {
      const version = yield* Effect.option(fileVersion(path))
      if (Option.isNone(version)) return yield* ask
      const answer = known.get(version.value) ?? (yield* ask)
      // Another caller may have started the tool in the meantime.
      const found = known.get(version.value) ?? answer
      // The cache keeps the most recently used entries, in order of last use.
      known.delete(version.value)
      known.set(version.value, found)
      for (const oldest of known.keys()) {
        if (known.size <= most) break
        known.delete(oldest)
      }
      return found
    })
  }
}

/**
 * The reports of this machine's tools about themselves, shared by all services in this process, because starting a tool takes
 * longer than any other query of the machine.
 */
export const KnownTools = Context.Reference("svc/runner/toolchain/KnownTools", { defaultValue: makeKnownTools })
