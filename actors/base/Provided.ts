import { Context, Effect, Scope, Tracer } from "effect"

/** Services that exist only while a layer is being built. Later calls must not use them. */
const ofBuilding: ReadonlyArray<string> = [Scope.Scope.key, Tracer.ParentSpan.key]

type Provide<R> = <A, E>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E>

/** Provides the services of the layer that is being built. The rest of the caller's context remains available. */
const provideLayer = <R>() =>
  Effect.map(Effect.context<R>(), (layer): Provide<R> => {
    const kept = Array.from(layer.mapUnsafe).filter(([key]) => !ofBuilding.includes(key))
    const services: Context.Context<R> = Context.makeUnsafe(new Map(kept))
    return (effect) => Effect.updateContext(effect, (caller: Context.Context<never>) => Context.merge(caller, services))
  })

/**
 * Binds a function to the services of the layer that is being built. The types of the required services are inferred. The
 * caller's context still supplies its transaction, admission and span.
 */
export const provided = <Args extends ReadonlyArray<unknown>, A, E, R>(
  call: (...args: Args) => Effect.Effect<A, E, R>
): Effect.Effect<(...args: Args) => Effect.Effect<A, E>, never, R> =>
  Effect.map(
    provideLayer<R>(),
    (provide) =>
      (...args: Args) =>
        provide(call(...args))
  )

/** The members of a service. Its effects and methods may require other services. */
type Members<Shape, Needs> = {
  readonly [Name in keyof Needs]: Name extends keyof Shape
    ? Shape[Name] extends (...args: infer Args) => Effect.Effect<infer A, infer E>
      ? (...args: Args) => Effect.Effect<A, E, Needs[Name]>
      : Shape[Name] extends Effect.Effect<infer A, infer E>
        ? Effect.Effect<A, E, Needs[Name]>
        : Shape[Name]
    : never
}

type Named<Shape> = { readonly [Name in keyof Shape]: unknown }

/** All services that the effects and methods of a service require. */
type AllNeeds<Shape, Needs extends Named<Shape>> = {
  readonly [Name in keyof Shape]: Shape[Name] extends
    | Effect.Effect<unknown, unknown>
    | ((...args: never) => Effect.Effect<unknown, unknown>)
    ? Needs[Name]
    : never
}[keyof Shape]

const isFunction = (member: unknown): member is (...args: ReadonlyArray<unknown>) => unknown =>
  typeof member === "function" && !Effect.isEffect(member)

/** This type guard is safe, because `Members` guarantees that the effect needs only these services. */
const isEffect = <R>(result: unknown): result is Effect.Effect<unknown, unknown, R> => Effect.isEffect(result)

const isService = <Shape extends object>(members: object, service: object): service is Shape =>
  Object.keys(members).every((name) => name in service)

/** Applies `provided` to every effect and method of a service. */
export const providedService = <I, Shape extends object, Needs extends Named<Shape>>(
  _key: Context.Key<I, Shape>,
  members: Members<Shape, Needs>
): Effect.Effect<Shape, never, AllNeeds<Shape, Needs>> =>
  Effect.map(provideLayer<AllNeeds<Shape, Needs>>(), (provide) => {
    const perhaps = (result: unknown) => (isEffect<AllNeeds<Shape, Needs>>(result) ? provide(result) : result)
    const service: object = Object.fromEntries(
      Object.entries<unknown>(members).map(([name, member]) => [
        name,
        isFunction(member) ? (...args: ReadonlyArray<unknown>) => perhaps(member(...args)) : perhaps(member)
      ])
    )
    if (isService<Shape>(members, service)) return service
    throw new Error("A member of the service is missing")
  })
