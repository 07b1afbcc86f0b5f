import { Effect } from "effect"
import { CommandFailed, misuse } from "../Output.ts"

/**
 * Matches `provider=connection`, or `provider:local.alias=connection` if the module uses a different name for the provider, such
 * as `hashicorp/aws:main.east=conn_...`.
 */
const shape = /^([^=:]+)(?::([A-Za-z0-9_-]+)(?:\.([A-Za-z0-9_-]+))?)?=(conn_[a-z0-9]+)$/

/** Parses the bindings of an install from its flags. */
export const connectionsOf = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
  return yield* Effect.forEach(given, (text) => {
    const [, provider, localName, childAlias, connectionId] = shape.exec(text) ?? []
    if (provider === undefined || connectionId === undefined) {
      return new CommandFailed({
        ...misuse,
        message: `--connection ${text}: expected PROVIDER=CONNECTION, such as hashicorp/aws=conn_..., or PROVIDER:NAME.ALIAS=CONNECTION.`
      })
    }
    return Effect.succeed({
      provider,
      moduleLocalName: localName ?? provider.split("/").at(-1) ?? provider,
      connectionId,
      ...(childAlias === undefined ? {} : { childAlias })
    })
  })
})
