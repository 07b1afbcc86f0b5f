import { Effect } from "effect"

/** Delays work until after the start, which most processes have finished by then. */
export const onceStarted = Effect.delay("250 millis")

/**
 * From then on, schemas are compiled on first use instead of interpreted, which saves a command a tenth of its time. Used by the
 * server and the binaries; an embedding application has to decide for itself. Not used at startup, where most schemas are used
 * once and compiling them would take 25 ms.
 */
export const compileSchemas = Effect.promise(() => import("effect/schema/SchemaJITCompiler/enable")).pipe(
  Effect.asVoid,
  Effect.catchCause((cause) => Effect.logWarning("Schemas are interpreted, not compiled", cause))
)
