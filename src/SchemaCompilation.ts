import { Effect } from "effect"

/** Delays what a process does only once it has started; most have by then. */
export const onceStarted = Effect.delay("250 millis")

/**
 * From now on, schemas are compiled on first use instead of interpreted, which saves a command a tenth of its time. For the
 * service and for binaries; an embedding application decides for itself. Not for startup, which uses most of its schemas once: compiling them would cost it 25 ms.
 */
export const compileSchemas = Effect.promise(() => import("effect/schema/SchemaJITCompiler/enable")).pipe(
  Effect.asVoid,
  Effect.catchCause((cause) => Effect.logWarning("Schemas are interpreted, not compiled", cause))
)
