import { Context, Effect, Layer, Tracer } from "effect"

const withoutSpan = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.makeUnsafe(new Map(Array.from(context.mapUnsafe).filter(([key]) => key !== Tracer.ParentSpan.key)))

/**
 * Builds a layer outside the span that is current. What a layer makes keeps the context that it was built in: with a span in
 * it, every later request would count as a part of the start, and no trace would lead from a request to what it did.
 */
export const outsideSpans = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.fromBuild((memoMap, scope) =>
    Effect.updateContext(Layer.buildWithMemoMap(layer, memoMap, scope), withoutSpan<R>)
  )
