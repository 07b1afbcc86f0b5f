import { Effect } from "effect"
import { compileSchemas, onceStarted } from "./SchemaCompilation.ts"

/**
 * Binaries start with lazy compilation (see `scripts/build.ts`). Hot code and schemas are compiled when most processes have
 * finished starting.
 */
const compiling = Effect.sync(() => Bun.unsafe.setJITPolicy(1)).pipe(Effect.andThen(compileSchemas), onceStarted)

/** Collects the garbage of the startup once, which is mostly loaded code, because an idle process would not collect it. */
const settled = Effect.sync(() => Bun.gc(true)).pipe(Effect.delay("2 seconds"))

/** For a compiled process that may run for years. After the start, it compiles hot code at the default thresholds. */
export const longRunning = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.forkChild(compiling).pipe(Effect.andThen(Effect.forkChild(settled)), Effect.andThen(program))
