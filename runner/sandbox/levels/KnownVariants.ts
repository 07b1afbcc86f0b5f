import { Context, type Effect } from "effect"

export interface KnownVariantsShape {
  /** Returns bubblewrap's cached error message for a variant, or else the result of `ask`; `undefined` if the variant works. */
  readonly refusalOf: (key: string, ask: Effect.Effect<string | undefined>) => Effect.Effect<string | undefined>
}

/**
 * Caches results for the bubblewrap variants of this machine, by program and arguments. By default nothing is cached, because a
 * result depends on kernel settings that may have changed since another server in this process tried the variant.
 */
export const KnownVariants = Context.Reference<KnownVariantsShape>("svc/runner/sandbox/levels/KnownVariants", {
  defaultValue: () => ({ refusalOf: (_, ask) => ask })
})
