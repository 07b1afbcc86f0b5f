import { Context, type Effect } from "effect"

export interface KnownVariantsShape {
  /** bubblewrap's error message for a variant, or what `ask` finds out now; `undefined` if the variant works. */
  readonly refusalOf: (key: string, ask: Effect.Effect<string | undefined>) => Effect.Effect<string | undefined>
}

/**
 * What is known about this machine's variants of bubblewrap, by program and arguments. By default nothing: what works depends on
 * settings of the kernel, which may have changed since another service in this process asked.
 */
export const KnownVariants = Context.Reference<KnownVariantsShape>("svc/runner/sandbox/levels/KnownVariants", {
  defaultValue: () => ({ refusalOf: (_, ask) => ask })
})
