import { Context, Effect } from "effect"
import { lookup } from "node:dns/promises"

/** Finds all addresses of a host name, in the order in which to try them. Fails with the system's error. */
export interface AddressResolverShape {
  readonly resolve: (hostname: string) => Effect.Effect<ReadonlyArray<string>, unknown>
}

/** Uses the system's resolver by default, so that svc resolves names in the same way as other programs on this machine. */
export const AddressResolver = Context.Reference<AddressResolverShape>("svc/runner/git/AddressResolver", {
  defaultValue: () => ({
    resolve: (hostname) =>
      Effect.tryPromise(() => lookup(hostname, { all: true })).pipe(
        Effect.map((found) => found.map((entry) => entry.address))
      )
  })
})
