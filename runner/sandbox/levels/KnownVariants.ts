import { Context, type Effect } from "effect"

export interface KnownVariantsShape {
  /** Returns bubblewrap's error message for a variant, either cached or from `ask`, or `undefined` if the variant works. */
  readonly refusalOf: (key: string, ask: Effect.Effect<string | undefined>) => Effect.Effect<string | undefined>
}

/**
 * Caches the results for bubblewrap variants on this machine, keyed by program and arguments. By default nothing is cached,
 * because a result depends on kernel settings that may have changed since another server in this process tried the variant.
 */
export const KnownVariants = Context.Reference<KnownVariantsShape>("svc/runner/sandbox/levels/KnownVariants", {
  defaultValue: () => ({ refusalOf: (_, ask) => ask })
})
