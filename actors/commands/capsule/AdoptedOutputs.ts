import { Redacted } from "effect"
import type { StateOutput } from "../../../runner/execution/RunOutcome.ts"

/** An Output in the previous state. */
interface KnownOutput {
  readonly name: string
  /** JSON; `null` if the Output is sealed. */
  readonly value: string | null
  readonly sensitive: 0 | 1
}

/**
 * Returns the Outputs in an adopted state. Some of the secrets that its apply used may be unknown, so a value is public only
 * if the previous state published the same value under the same name.
 */
export const adoptedOutputs = (
  outputs: ReadonlyArray<StateOutput>,
  before: ReadonlyArray<KnownOutput>
): ReadonlyArray<StateOutput> => {
  const published = new Map(
    before.flatMap(({ name, sensitive, value }) => (sensitive === 1 || value === null ? [] : [[name, value]]))
  )
  return outputs.map((output) => {
    const isPublic = !output.sensitive && published.get(output.name) === JSON.stringify(Redacted.value(output.value))
    return { ...output, sensitive: !isPublic }
  })
}
