import { Schema } from "effect"
import { InterfaceBindingRequest, InterfaceBlueprint, PublicOutput } from "./CompiledInstall.ts"
import type { DocumentPath } from "./DiagnosticPath.ts"
import type { Report } from "./DiagnosticReport.ts"
import type { InterfaceDeclaration } from "./InterfaceDeclaration.ts"
import type { OutputFacts } from "./ModuleFacts.ts"
import type { BaseInstallConfig, OperatorPolicy } from "./OperatorPolicy.ts"
import { checkPermissions } from "./RequirementCompiler.ts"

export interface InterfaceContext {
  readonly outputs: ReadonlyMap<string, OutputFacts>
  readonly policy: OperatorPolicy
  readonly base: BaseInstallConfig
  readonly report: Report
}

export interface CompiledInterfaces {
  readonly interfaceBlueprints: ReadonlyArray<InterfaceBlueprint>
  readonly bindingRequests: ReadonlyArray<InterfaceBindingRequest>
  readonly outputAllowlist: ReadonlyArray<PublicOutput>
}

const sameBlueprint = Schema.toEquivalence(InterfaceBlueprint)
const sameRequest = Schema.toEquivalence(InterfaceBindingRequest)
const sameOutput = Schema.toEquivalence(PublicOutput)

const conflict = "The operator declares this already, and differently."

/** Adds proposals to the operator's declarations. Equal declarations are merged; different ones with the same key conflict. */
const merge = <Item>(
  declared: ReadonlyArray<Item>,
  proposed: ReadonlyArray<readonly [item: Item, path: DocumentPath]>,
  sharesKey: (left: Item, right: Item) => boolean,
  same: (left: Item, right: Item) => boolean,
  report: Report
): ReadonlyArray<Item> => {
  const merged = [...declared]
  for (const [item, path] of proposed) {
    const rivals = merged.filter((candidate) => sharesKey(candidate, item))
    if (rivals.length === 0) merged.push(item)
    else if (!rivals.every((rival) => same(rival, item))) report(path, "operator_declaration_conflict", conflict)
  }
  return merged
}

const checkOutputs = (
  { spec }: InterfaceDeclaration,
  path: DocumentPath,
  { outputs, report }: InterfaceContext
): ReadonlyArray<readonly [PublicOutput, DocumentPath]> =>
  Object.entries(spec.inputs ?? {}).flatMap(([name, input]) => {
    if (input.source !== "output") return []
    const at = [...path, "spec", "inputs", name, "outputName"]
    const output = outputs.get(input.outputName)
    if (output === undefined) report(at, "output_not_found", "The module has no Output of this name.")
    else if (output.sensitive || output.ephemeral) {
      report(at, "output_not_public", "Only an Output that is neither sensitive nor ephemeral can be public.")
    }
    return [[{ name: input.outputName, type: input.outputType }, at] as const]
  })

/**
 * Checks the Interfaces of a module against its Outputs and the operator's limits, and merges them into the operator's
 * declarations by key. Reports everything that is not allowed. Use the result only if nothing was reported.
 */
export const compileInterfaces = (
  declarations: ReadonlyArray<InterfaceDeclaration>,
  path: DocumentPath,
  context: InterfaceContext
): CompiledInterfaces => {
  const { base, policy, report } = context
  const placed = declarations.map((declaration, index) => ({ declaration, at: [...path, index] }))
  const requests = placed.flatMap(({ at, declaration }) =>
    (declaration.bindingRequests ?? []).map((request, index) => {
      const where = [...at, "bindingRequests", index]
      checkPermissions(request.permissions, request.delivery.type, where, policy, report)
      return [{ interfaceKey: declaration.key, ...request }, where] as const
    })
  )
  return {
    interfaceBlueprints: merge(
      base.interfaceBlueprints,
      placed.map(({ at, declaration: { key, name, spec } }) => [{ key, name, spec }, at] as const),
      (left, right) => left.key === right.key || left.name === right.name,
      sameBlueprint,
      report
    ),
    bindingRequests: merge(
      base.bindingRequests,
      requests,
      (left, right) => left.interfaceKey === right.interfaceKey,
      sameRequest,
      report
    ),
    outputAllowlist: merge(
      base.outputAllowlist,
      placed.flatMap(({ at, declaration }) => checkOutputs(declaration, at, context)),
      (left, right) => left.name === right.name,
      sameOutput,
      report
    )
  }
}
