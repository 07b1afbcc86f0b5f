import { Context, type Effect } from "effect"

export interface KnownVariantsShape {
  /** bubblewrap's cached error message for a variant, or the result of `ask`; `undefined` if the variant works. */
  readonly refusalOf: (key: string, ask: Effect.Effect<string | undefined>) => Effect.Effect<string | undefined>
}

/**
 * Cached results for this machine's variants of bubblewrap, by program and arguments. Empty by default: a result depends on
 * settings of the kernel, which may have changed since another service in this process tried the variant.
 */
export const KnownVariants = Context.Reference<KnownVariantsShape>("svc/runner/sandbox/levels/KnownVariants", {
  defaultValue: () => ({ refusalOf: (_, ask) => ask })
})
