import { test } from "bun:test"
import { Effect, Layer, ManagedRuntime, type Scope } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { processWide } from "./ProcessWide.ts"

const testServices = Layer.mergeAll(TestClock.layer(), TestConsole.layer)

type Body<E, R> = () => Effect.Effect<unknown, E, R>

const run = <E>(effect: Effect.Effect<unknown, E, Scope.Scope>) =>
  Effect.runPromise(Effect.scoped(Effect.provide(effect, processWide))).then(() => {})

/**
 * Effect tests. `it.effect` uses TestClock and TestConsole, and `it.live` the real services; each closes the test's Scope.
 * `it.concurrent` is `it.live` for tests that mostly wait for a lease or another process, so that the tests in a file wait
 * in parallel.
 */
export const it = {
  effect: <E>(name: string, body: Body<E, Scope.Scope>, timeout?: number) =>
    test(name, () => run(Effect.suspend(body).pipe(Effect.provide(testServices))), timeout),
  live: <E>(name: string, body: Body<E, Scope.Scope>, timeout?: number) =>
    test(name, () => run(Effect.suspend(body)), timeout),
  concurrent: <E>(name: string, body: Body<E, Scope.Scope>, timeout?: number) =>
    test.concurrent(name, () => run(Effect.suspend(body)), timeout)
}

/** Builds a Layer once for all tests in a file; call `dispose` in `afterAll`. */
export const suite = <R, E>(layer: Layer.Layer<R, E>) => {
  const runtime = ManagedRuntime.make(layer.pipe(Layer.provideMerge(processWide)))
  return {
    live: <E2>(name: string, body: Body<E2, R | Scope.Scope>, timeout?: number) =>
      test(name, () => runtime.runPromise(Effect.scoped(Effect.suspend(body))).then(() => {}), timeout),
    runPromise: runtime.runPromise,
    dispose: () => runtime.dispose()
  }
}
