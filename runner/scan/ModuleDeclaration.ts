import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { ToolName } from "../toolchain/Tool.ts"
import { mergeBlocks, type PlacedBlock, type ReadFile } from "./BlockMerge.ts"
import { readAddresses } from "./ModuleAddresses.ts"
import { type ModuleCallDeclaration, readModuleCall } from "./ModuleCallDeclaration.ts"
import { readOutput } from "./OutputDeclaration.ts"
import { type ModuleProviders, readProviders } from "./ProviderDeclarations.ts"
import type { ModuleAddresses, ScannedOutput, ScannedVariable, ToolConstraint } from "./ScannedModule.ts"
import { locate, notice, quoted, refusal } from "./ScanProblem.ts"
import { readToolConstraints } from "./ToolConstraints.ts"
import { readVariable } from "./VariableDeclaration.ts"

/**
 * The declarations in the files of one folder, before the scan has followed the folder's module calls.
 *
 * - `findings`: apply to every module that reaches this module
 * - `rootFindings`: apply only when this module itself is installed
 * - `readAs`: the tool whose files were read; absent if the folder is the same for every tool
 */
export interface ModuleDeclaration {
  readonly path: string
  readonly variables: ReadonlyArray<ScannedVariable>
  readonly outputs: ReadonlyArray<ScannedOutput>
  readonly providers: ModuleProviders
  readonly calls: ReadonlyArray<ModuleCallDeclaration>
  readonly addresses: ModuleAddresses
  readonly requiredVersion: ReadonlyArray<string>
  readonly toolConstraints: ReadonlyArray<ToolConstraint>
  readonly findings: ReadonlyArray<Finding>
  readonly rootFindings: ReadonlyArray<Finding>
  readonly readAs?: ToolName
}

const byName = (left: { readonly name: string }, right: { readonly name: string }) =>
  left.name < right.name ? -1 : left.name > right.name ? 1 : 0

const ephemeralAtRoot = ({ ephemeral, location, name }: ScannedOutput): ReadonlyArray<Finding> => {
  const message = `The output ${quoted(name)} is ephemeral, which only the outputs of called modules may be.`
  return ephemeral ? [locate(refusal("ephemeral_root_output", message, location.line), location.path)] : []
}

/** Blocks that change the storage of state. */
const stateFindings = (blocks: ReadonlyArray<PlacedBlock>) => {
  const findings: Array<Finding> = []
  const rootFindings: Array<Finding> = []
  for (const { type, attributes, location } of blocks) {
    const { path, line } = location
    if (type === "backend" || type === "cloud") {
      rootFindings.push(
        locate(
          notice(
            "info",
            `${type}_overridden`,
            `The ${type} block has no effect here: the service keeps the state.`,
            line
          ),
          path
        )
      )
    }
    if (type === "encryption") {
      findings.push(
        locate(
          refusal(
            "state_encryption",
            "The module encrypts its own state, so the service could neither check nor keep it. Remove the block: the service encrypts state itself.",
            line
          ),
          path
        )
      )
    }
    const experiments = attributes.get("experiments")
    if ((type === "terraform" || type === "language") && experiments !== undefined) {
      const message =
        "The module uses experimental language features, which may change or vanish with any version of the tool."
      findings.push(
        locate(notice("warning", "experiments", message, experiments.location.line), experiments.location.path)
      )
    }
  }
  return { findings, rootFindings }
}

/** Reads the combined declarations in the files of one folder. `files` are in the order in which they apply. */
export const declareModule = (
  path: string,
  files: ReadonlyArray<ReadFile>,
  fileFindings: ReadonlyArray<Finding>,
  fileRootFindings: ReadonlyArray<Finding>
): ModuleDeclaration => {
  const { blocks, findings: mergeFindings } = mergeBlocks(files)
  const findings = [...fileFindings, ...mergeFindings]
  const ofType = (type: string) => blocks.filter((block) => block.type === type)
  const variables = ofType("variable").map(readVariable)
  const outputs = ofType("output").map(readOutput)
  const calls = ofType("module").map((block) => readModuleCall(block, path))
  const passed = calls.flatMap(({ call }) =>
    call.providers.map(({ parent }) => ({ reference: parent, location: call.location }))
  )
  const providers = readProviders(blocks, passed)
  const tool = readToolConstraints(blocks)
  const state = stateFindings(blocks)
  for (const part of [...variables, ...outputs, ...calls, providers, state, tool]) findings.push(...part.findings)
  return {
    path,
    variables: variables.map(({ variable }) => variable).sort(byName),
    outputs: outputs.map(({ output }) => output).sort(byName),
    providers: providers.providers,
    calls: calls.map(({ call }) => call).sort(byName),
    addresses: readAddresses(blocks),
    requiredVersion: tool.requiredVersion,
    toolConstraints: tool.constraints,
    findings,
    rootFindings: [
      ...fileRootFindings,
      ...state.rootFindings,
      ...outputs.flatMap(({ output }) => ephemeralAtRoot(output))
    ]
  }
}
