import { Effect } from "effect"

/**
 * From now on, schemas are compiled on first use instead of interpreted, which saves a command a tenth of its time. For the
 * service and for binaries; an embedding application decides for itself. Not for startup, which uses most of its schemas once: compiling them would cost it 25 ms.
 */
export const compileSchemas = Effect.promise(() => import("effect/schema/SchemaJITCompiler/enable")).pipe(
  Effect.asVoid,
  Effect.catchCause((cause) => Effect.logWarning("Schemas are interpreted, not compiled", cause))
)
