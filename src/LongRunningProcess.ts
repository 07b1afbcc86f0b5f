import { Effect } from "effect"
import { compileSchemas, onceStarted } from "./SchemaCompilation.ts"

/**
 * Binaries start with lazy compilation, see `scripts/build.ts`: hot code and schemas are compiled once most of them have finished
 * starting.
 */
const compiling = Effect.sync(() => Bun.unsafe.setJITPolicy(1)).pipe(Effect.andThen(compileSchemas), onceStarted)

/** Garbage from startup, mostly loaded code, is collected once: an idle process would have no reason to collect it. */
const settled = Effect.sync(() => Bun.gc(true)).pipe(Effect.delay("2 seconds"))

/** For a compiled process that may run for years. Once it has started, it compiles hot code at the usual thresholds. */
export const longRunning = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.forkChild(compiling).pipe(Effect.andThen(Effect.forkChild(settled)), Effect.andThen(program))
