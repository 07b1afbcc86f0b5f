import { Effect } from "effect"

/** Binaries start with lazy compilation, see `scripts/build.ts`: once most of them have started, hot code is compiled. */
const compiling = Effect.sync(() => Bun.unsafe.setJITPolicy(1)).pipe(Effect.delay("250 millis"))

/** Garbage from the start, mostly loaded code, is collected once: an idle process would have no reason to. */
const settled = Effect.sync(() => Bun.gc(true)).pipe(Effect.delay("2 seconds"))

/** For a process of a compiled binary that may run for years: it is as quick to compile as any other once it has started. */
export const lasting = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.forkChild(compiling).pipe(Effect.andThen(Effect.forkChild(settled)), Effect.andThen(program))
