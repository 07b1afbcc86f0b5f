import { Context, Effect } from "effect"
import { dual } from "effect/Function"

type Key = Context.Key<unknown, unknown>

/** Services captured where something is built, for what runs later: see `captureServices`. */
export interface CapturedServices<S> {
  readonly context: Context.Context<S>
  readonly keys: ReadonlyArray<Key>
}

/** Captures these services of the current context, and nothing else of it. */
export const captureServices = <const Keys extends ReadonlyArray<Key>>(...keys: Keys) =>
  Effect.map(
    Effect.context<Keys[number]["Identifier"]>(),
    (all): CapturedServices<Keys[number]["Identifier"]> => ({
      context: Context.makeUnsafe(new Map(keys.map((key) => [key.key, Context.getUnsafe(all, key)]))),
      keys
    })
  )

const includes = <R, S>(
  current: Context.Context<Exclude<R, S>>,
  { context, keys }: CapturedServices<S>
): current is Context.Context<R> =>
  keys.every((key) => Context.getOrUndefined(current, key) === Context.getOrUndefined(context, key))

const including = <R, S>(current: Context.Context<Exclude<R, S>>, { context }: CapturedServices<S>) => {
  const both = new Map(current.mapUnsafe)
  for (const [key, service] of context.mapUnsafe) both.set(key, service)
  return Context.makeUnsafe<R>(both)
}

/**
 * Provides captured services to a fiber, unless it already has all of them. `Effect.provideContext` would copy both contexts on
 * every call, and would also replace services of the call itself, such as its span. `actorLayer` accepts only handlers that have
 * been given their services.
 */
export const provideCaptured: {
  <S>(services: CapturedServices<S>): <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, Exclude<R, S>>
  <A, E, R, S>(effect: Effect.Effect<A, E, R>, services: CapturedServices<S>): Effect.Effect<A, E, Exclude<R, S>>
} = dual(
  2,
  <A, E, R, S>(effect: Effect.Effect<A, E, R>, services: CapturedServices<S>): Effect.Effect<A, E, Exclude<R, S>> =>
    Effect.updateContext(
      effect,
      (current: Context.Context<Exclude<R, S>>): Context.Context<R> =>
        includes<R, S>(current, services) ? current : including<R, S>(current, services)
    )
)
