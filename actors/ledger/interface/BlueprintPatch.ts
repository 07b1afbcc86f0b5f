import { Array as Arr, Result, type Schema } from "effect"
import type { CompiledInstall, PublicOutput } from "../../../schema/manifest/CompiledInstall.ts"
import { describeDiagnostics, diagnosticReport } from "../../../schema/manifest/DiagnosticReport.ts"
import { compileInterfaces } from "../../../schema/manifest/InterfaceCompiler.ts"
import { parseManifestValue } from "../../../schema/manifest/ManifestParser.ts"
import type { OutputFacts } from "../../../schema/manifest/ModuleFacts.ts"
import type { OperatorPolicy } from "../../../schema/manifest/OperatorPolicy.ts"

const patchVersion = "svc.com/v2.4"

const isObject = (value: Schema.Json): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Wraps the proposals in a manifest, so that the manifest parser checks them with the same rules. */
const asManifest = (proposed: ReadonlyArray<Schema.Json>): Schema.Json => ({
  apiVersion: patchVersion,
  kind: "Repository",
  install: { modules: { ".": { inputs: [], interfaces: [...proposed] } } }
})

/**
 * Returns the Outputs that existing Interfaces read, with their types. An additional Interface must not read the same Output
 * as a different type.
 */
const outputsRead = ({ interfaceBlueprints, outputAllowlist }: CompiledInstall): ReadonlyArray<PublicOutput> => [
  ...outputAllowlist,
  ...interfaceBlueprints.flatMap(({ spec }) =>
    Object.values(spec.inputs ?? {}).flatMap((input) =>
      input.source === "output" ? [{ name: input.outputName, type: input.outputType }] : []
    )
  )
]

/**
 * Adds proposed Interface blueprints to a configuration without changing its existing ones: reusing a key or name for a
 * different blueprint is a conflict. Rejects binding requests, and Outputs that are sensitive or ephemeral. An Output may
 * also be private for another reason, which only the apply can determine. The error message contains no values.
 */
export const patchBlueprints = (
  compiled: CompiledInstall,
  outputs: ReadonlyArray<OutputFacts>,
  proposed: ReadonlyArray<Schema.Json>,
  policy: OperatorPolicy
): Result.Result<CompiledInstall, string> => {
  if (proposed.some((blueprint) => isObject(blueprint) && Object.hasOwn(blueprint, "bindingRequests"))) {
    return Result.fail("bindingRequests belong to a reviewed manifest; nothing else grants an Interface to anybody.")
  }
  const parsed = parseManifestValue(asManifest(proposed))
  if (Result.isFailure(parsed)) return Result.fail(describeDiagnostics(parsed.failure.diagnostics))
  const { modules } = parsed.success.install
  const module = modules["."]
  const declared = module !== undefined && "interfaces" in module ? (module.interfaces ?? []) : []
  const { diagnostics, report } = diagnosticReport()
  const { interfaceBlueprints } = compileInterfaces(declared, ["interfaces"], {
    outputs: new Map(outputs.map((output) => [output.name, output])),
    policy,
    base: {
      variables: [],
      interfaceBlueprints: compiled.interfaceBlueprints,
      bindingRequests: compiled.bindingRequests,
      outputAllowlist: outputsRead(compiled)
    },
    report
  })
  if (Arr.isReadonlyArrayNonEmpty(diagnostics)) return Result.fail(describeDiagnostics(diagnostics))
  return Result.succeed({ ...compiled, interfaceBlueprints })
}
