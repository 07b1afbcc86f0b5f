import { Context, Effect, Layer, Tracer } from "effect"

const withoutSpan = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.makeUnsafe(new Map(Array.from(context.mapUnsafe).filter(([key]) => key !== Tracer.ParentSpan.key)))

/**
 * Builds a layer outside the current span. A service keeps the context in which its layer was built, so if the layer were
 * built inside a span, every later request would be part of the startup trace.
 */
export const withoutInheritedTraceContext = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.fromBuild((memoMap, scope) =>
    Effect.updateContext(Layer.buildWithMemoMap(layer, memoMap, scope), withoutSpan<R>)
  )
