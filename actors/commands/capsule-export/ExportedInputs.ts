import type { RunVariable } from "../../../runner/execution/RunJob.ts"
import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"

/** An input whose value is not in the archive. */
export interface InputToSupply {
  readonly name: string
  readonly reason: "secret" | "generated" | "missing"
}

export interface ExportedInputs {
  readonly values: Readonly<Record<string, RunVariable>>
  readonly toSupply: ReadonlyArray<InputToSupply>
}

type Given = Readonly<Record<string, RunVariable>>

/**
 * Divides inputs into those that are exported with their values and those that the person must supply. Secret inputs are never
 * exported, whoever set them. Inputs with a default and no value are in neither group.
 */
export const exportedInputs = (
  declared: ReadonlyArray<DeclaredVariable>,
  { delivered, given }: { readonly given: Given; readonly delivered: Given }
): ExportedInputs => {
  const values: Record<string, RunVariable> = {}
  const toSupply: Array<InputToSupply> = []
  for (const { ephemeral, name, required, sensitive } of declared) {
    const ofService = Object.hasOwn(delivered, name) ? delivered[name] : undefined
    const variable = ofService ?? (Object.hasOwn(given, name) ? given[name] : undefined)
    if (variable === undefined) {
      if (required) toSupply.push({ name, reason: "missing" })
    } else if (sensitive || ephemeral || variable.sensitive) {
      toSupply.push({ name, reason: ofService === undefined ? "secret" : "generated" })
    } else values[name] = variable
  }
  return { values, toSupply }
}
