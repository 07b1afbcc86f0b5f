import type { RunVariable } from "../../../runner/execution/RunJob.ts"
import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"

/** An input that the archive does not contain. */
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
 * The inputs that are exported with their values. A secret input is never exported, no matter who set it; an input with a default
 * and no value is in neither group.
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
