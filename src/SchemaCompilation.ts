import { Effect } from "effect"

/** Delays work until most processes have finished starting. */
export const onceStarted = Effect.delay("250 millis")

/**
 * Makes a process compile schemas on first use instead of interpreting them, once the process has been running for a while.
 * The delay makes commands ten percent faster: during startup, most schemas are used only once, and compiling them would
 * take 25 ms. The server and the binaries use this function; an embedding application can choose whether to use it.
 */
export const compileSchemas = Effect.promise(() => import("effect/schema/SchemaJITCompiler/enable")).pipe(
  Effect.asVoid,
  Effect.catchCause((cause) => Effect.logWarning("Schemas are interpreted, not compiled", cause))
)
