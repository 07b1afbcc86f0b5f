import { Effect } from "effect"
import { compileSchemas, onceStarted } from "./SchemaCompilation.ts"

/**
 * Delay until hot code and schemas are compiled. Binaries start with lazy compilation (see `scripts/build.ts`), and most
 * processes have finished starting by then.
 */
const compiling = Effect.sync(() => Bun.unsafe.setJITPolicy(1)).pipe(Effect.andThen(compileSchemas), onceStarted)

/**
 * Runs one garbage collection after startup. Most of the garbage comes from loading code, and an idle process would never
 * collect it.
 */
const settled = Effect.sync(() => Bun.gc(true)).pipe(Effect.delay("2 seconds"))

/** Tunes a compiled process that may run for years: after startup, compiles hot code at the default thresholds. */
export const longRunning = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.forkChild(compiling).pipe(Effect.andThen(Effect.forkChild(settled)), Effect.andThen(program))
