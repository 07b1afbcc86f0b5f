import { Effect, Redacted } from "effect"
import { readDocument } from "../document/Documents.ts"
import type { ProviderBlock } from "./CredentialDelivery.ts"
import { runnerFailure } from "./RunnerFailure.ts"
import type { ProviderSchemas } from "./ProviderSchemas.ts"
import type { RunSession } from "./RunSession.ts"
import { requireSuccess } from "./ToolSuccess.ts"

const longestSchema = 512 * 1024 * 1024

type Schemas = NonNullable<ProviderSchemas["provider_schemas"]>

/** An address without a host belongs to the tool's default registry. */
const schemaOf = (schemas: Schemas, provider: string) =>
  Object.entries(schemas).find(
    ([address]) => address === provider || (provider.split("/").length === 2 && address.endsWith(`/${provider}`))
  )?.[1]

const unknownArgument = (schemas: Schemas, { provider, body }: ProviderBlock): string | undefined => {
  const block = schemaOf(schemas, provider)?.provider?.block
  const known = new Set([...Object.keys(block?.attributes ?? {}), ...Object.keys(block?.block_types ?? {})])
  return Object.keys(body).find((argument) => !known.has(argument))
}

/**
 * The tool silently ignores an override argument that the provider does not have: with a misspelt region the module would be
 * deployed elsewhere, and a credential would not reach the provider. So every argument that the runner adds is checked against
 * the provider's schema after installation.
 */
export const checkProviderArguments = Effect.fnUntraced(function* (session: RunSession) {
  if (session.providerBlocks.length === 0) return
  const end = yield* session.tool({
    phase: "init",
    args: ["providers", "schema", "-json"],
    access: "none",
    output: { kind: "document", maxBytes: longestSchema },
    timeout: session.timing.show,
    grace: session.timing.planGrace
  })
  yield* requireSuccess(end, "init", "init_failed")
  const unreadable = runnerFailure(
    "output_unreadable",
    "init",
    "The tool's description of the providers cannot be read."
  )
  if (end.document === undefined) return yield* unreadable
  const { provider_schemas: schemas = {} } = yield* readDocument("providers", Redacted.value(end.document)).pipe(
    Effect.mapError(() => unreadable)
  )
  for (const block of session.providerBlocks) {
    const argument = unknownArgument(schemas, block)
    if (argument === undefined) continue
    return yield* runnerFailure(
      "job_invalid",
      "init",
      `The provider ${block.provider} has no argument ${JSON.stringify(argument)}. Correct the Connection's provider configuration, ` +
        "or the argument name of its Credential Recipe."
    )
  }
})
