import { Array as Arr, Result, Schema } from "effect"
import {
  bindingEnvironmentVariable,
  type CompiledInput,
  type CompiledInstall,
  type ManifestAssistance
} from "./CompiledInstall.ts"
import { describeDiagnostics, diagnosticReport, type Report } from "./DiagnosticReport.ts"
import { compileInterfaces } from "./InterfaceCompiler.ts"
import { ManifestDiagnostic } from "./ManifestDiagnostic.ts"
import type { ManifestRefusal } from "./ManifestParser.ts"
import type { InstallPins, ModuleFacts, VariableFacts } from "./ModuleFacts.ts"
import type { BaseInstallConfig, OperatorPolicy } from "./OperatorPolicy.ts"
import type { ModuleDeclaration, RepositoryManifest } from "./RepositoryManifest.ts"
import { compileRequirements } from "./RequirementCompiler.ts"
import { deliveryTargets } from "./RequirementDeclaration.ts"
import type { DocumentPath } from "./DiagnosticPath.ts"
import type { InputDeclaration } from "./InputDeclaration.ts"

const needsString = (input: InputDeclaration) =>
  input.source.kind === "capsule_name" ||
  input.source.kind === "workspace_scoped_capsule_name" ||
  input.role !== undefined

/**
 * Sensitive and ephemeral variables are always secret. A manifest can make further variables secret, but cannot make a
 * secret variable public.
 */
const isSecret = (variable: VariableFacts, input?: InputDeclaration) =>
  variable.sensitive || variable.ephemeral || input?.secret === true || input?.role === "initial_secret"

/** Describes the variable for the form of a generic install. */
const genericInput = (variable: VariableFacts): CompiledInput => ({
  name: variable.name,
  type: variable.type,
  origin: "generic",
  source: "user",
  required: !variable.hasDefault,
  hasDefault: variable.hasDefault,
  secret: isSecret(variable),
  advanced: false
})

/**
 * Checks a declared input against the report: the variable, its type, and whether it has a default. Reports a mismatch and
 * returns `undefined`.
 */
const compileInput = (
  input: InputDeclaration,
  variable: VariableFacts | undefined,
  path: DocumentPath,
  report: Report
): CompiledInput | undefined => {
  if (variable === undefined) {
    report([...path, "name"], "variable_not_found", "The module has no variable of this name.")
    return undefined
  }
  const asDeclared = input.type === undefined || input.type === variable.type
  if (!asDeclared || (needsString(input) && variable.type !== "string")) {
    report(path, "variable_type_not_proven", `The module declares this variable as ${variable.type}.`)
    return undefined
  }
  if (input.source.kind === "module_default" && !variable.hasDefault) {
    report([...path, "source"], "default_not_proven", "The module has no default for this variable.")
    return undefined
  }
  if (input.required === false && !variable.hasDefault) {
    report(
      [...path, "required"],
      "default_not_proven",
      "The module has no default for this variable, so it is required."
    )
    return undefined
  }
  const { format, helper, label, name, placeholder, role, source } = input
  return {
    name,
    type: variable.type,
    origin: "manifest",
    source: source.kind,
    required: source.kind === "user" && (input.required ?? !variable.hasDefault),
    hasDefault: variable.hasDefault,
    secret: isSecret(variable, input),
    advanced: input.advanced ?? false,
    label,
    ...(role === undefined ? {} : { role }),
    ...(format === undefined ? {} : { format }),
    ...(helper === undefined ? {} : { helper }),
    ...(placeholder === undefined ? {} : { placeholder })
  }
}

/** The parsed manifest of the pinned snapshot. */
export type ManifestDeclaration =
  | { readonly _tag: "Absent" }
  | { readonly _tag: "Refused"; readonly refusal: ManifestRefusal }
  | { readonly _tag: "Parsed"; readonly manifest: RepositoryManifest }

export interface CompilationRequest {
  /** The evidence that was reviewed. The report must be based on exactly this evidence. */
  readonly pins: InstallPins
  readonly facts: ModuleFacts
  /** The module's path from the root of the repository. The manifest identifies the module by this path. */
  readonly manifestKey: string
  readonly declaration: ManifestDeclaration
  readonly policy: OperatorPolicy
  readonly base: BaseInstallConfig
}

/** The evidence has changed between review and compilation, so a new review is needed. */
export class InstallEvidenceMismatch extends Schema.TaggedError<InstallEvidenceMismatch>()("InstallEvidenceMismatch", {
  fields: Schema.NonEmptyArray(
    Schema.Literals(["sourceSnapshotId", "compatibilityReportId", "modulePath", "manifestDigest"])
  )
}) {
  override get message() {
    return `The compatibility report was made from another ${this.fields.join(", ")} than the one selected; run the compatibility check again.`
  }
}

/** The operator requires an exact manifest version, but this repository's manifest cannot be adopted. */
export class ManifestRequired extends Schema.TaggedError<ManifestRequired>()("ManifestRequired", {
  requiredVersion: Schema.String,
  diagnostics: Schema.NonEmptyArray(ManifestDiagnostic)
}) {
  override get message() {
    return `The operator requires a valid ${this.requiredVersion} manifest: ${describeDiagnostics(this.diagnostics)}`
  }
}

const pinNames = ["sourceSnapshotId", "compatibilityReportId", "modulePath", "manifestDigest"] as const

const checkEvidence = ({ declaration, facts, pins }: CompilationRequest) => {
  const moved = pinNames.filter((name) => facts.pins[name] !== pins[name])
  const hasManifest = declaration._tag !== "Absent"
  const undigested = hasManifest !== (pins.manifestDigest !== undefined) && !moved.includes("manifestDigest")
  const fields = undigested ? [...moved, "manifestDigest" as const] : moved
  return Arr.isReadonlyArrayNonEmpty(fields)
    ? Result.fail(new InstallEvidenceMismatch({ fields }))
    : Result.succeed(undefined)
}

const operatorSourceBuild = ({ sourceBuild }: BaseInstallConfig) =>
  sourceBuild === undefined ? {} : { sourceBuild: { origin: "operator" as const, proposal: sourceBuild } }

/** Compiles an install without a manifest, from the scanned variables and the operator's declarations. */
const genericInstall = (
  { base, facts, pins }: CompilationRequest,
  assistance: Exclude<ManifestAssistance, "adopted">,
  diagnostics: ReadonlyArray<ManifestDiagnostic>
): CompiledInstall => ({
  origin: "generic",
  assistance,
  pins,
  inputs: facts.variables.filter(({ name }) => !base.variables.includes(name)).map(genericInput),
  requires: [],
  features: [],
  interfaceBlueprints: base.interfaceBlueprints,
  bindingRequests: base.bindingRequests,
  outputAllowlist: base.outputAllowlist,
  ...operatorSourceBuild(base),
  diagnostics
})

/** Returns the variables that requirements fill, each with the first requirement that claims it. */
const claimedVariables = (module: ModuleDeclaration): ReadonlySet<string> =>
  new Set(
    (module.requires ?? []).flatMap((requirement) =>
      deliveryTargets(requirement).map(({ lane, target }) =>
        lane === "variables" ? target : bindingEnvironmentVariable
      )
    )
  )

const compileInputs = (
  module: ModuleDeclaration,
  { base, facts }: CompilationRequest,
  path: ReadonlyArray<PropertyKey>,
  report: Report
): ReadonlyArray<CompiledInput> => {
  const variables = new Map(facts.variables.map((variable) => [variable.name, variable]))
  const claimed = claimedVariables(module)
  const declared = module.inputs.flatMap((input, index) => {
    const at = [...path, "inputs", index]
    if (base.variables.includes(input.name)) {
      report([...at, "name"], "operator_declaration_conflict", "The operator sets this variable.")
    }
    if (claimed.has(input.name)) {
      report([...at, "name"], "variable_claimed_twice", "A requirement of the module delivers to this variable.")
    }
    return compileInput(input, variables.get(input.name), at, report) ?? []
  })
  const taken = new Set([...declared.map(({ name }) => name), ...claimed, ...base.variables])
  return [...declared, ...facts.variables.filter(({ name }) => !taken.has(name)).map(genericInput)]
}

const checkOperatorVariables = (
  module: ModuleDeclaration,
  base: BaseInstallConfig,
  path: ReadonlyArray<PropertyKey>,
  report: Report
) =>
  module.requires?.forEach((requirement, index) => {
    for (const { lane, slot, target } of deliveryTargets(requirement)) {
      const variable = lane === "variables" ? target : bindingEnvironmentVariable
      if (base.variables.includes(variable)) {
        report(
          [...path, "requires", index, "deliver", lane, slot],
          "operator_declaration_conflict",
          "The operator sets this variable."
        )
      }
    }
  })

/** Lists the declarations that a manifest contains for a module, by their names in the manifest. */
const assistanceOf = ({ features, inputs, interfaces, requires, sourceBuild }: ModuleDeclaration) => [
  ...inputs.map(({ name }) => `input ${name}`),
  ...(features ?? []).map(({ id }) => `feature ${id}`),
  ...(requires ?? []).map(({ kind }) => `requirement ${kind}`),
  ...(interfaces ?? []).map(({ key }) => `Interface ${key}`),
  ...(sourceBuild === undefined ? [] : ["source build"])
]

const adopt = (
  request: CompilationRequest,
  manifest: RepositoryManifest,
  module: ModuleDeclaration
): CompiledInstall => {
  const { base, facts, pins, policy } = request
  const path = ["install", "modules", request.manifestKey]
  const { diagnostics, report } = diagnosticReport()
  const variables = new Map(facts.variables.map((variable) => [variable.name, variable]))
  const outputs = new Map(facts.outputs.map((output) => [output.name, output]))
  const inputs = compileInputs(module, request, path, report)
  const requires = compileRequirements(module.requires ?? [], [...path, "requires"], {
    variables,
    policy,
    version: manifest.apiVersion,
    report
  })
  checkOperatorVariables(module, base, path, report)
  const interfaces = compileInterfaces(module.interfaces ?? [], [...path, "interfaces"], {
    outputs,
    policy,
    base,
    report
  })
  if (diagnostics.length > 0) {
    return { ...genericInstall(request, "rejected", diagnostics), dropped: assistanceOf(module) }
  }
  const proposed =
    module.sourceBuild === undefined
      ? {}
      : { sourceBuild: { origin: "repository" as const, proposal: module.sourceBuild } }
  return {
    origin: "repository_manifest",
    assistance: "adopted",
    manifestVersion: manifest.apiVersion,
    pins,
    inputs,
    requires,
    features: module.features ?? [],
    ...interfaces,
    ...proposed,
    ...operatorSourceBuild(base),
    diagnostics
  }
}

const compileDeclaration = (request: CompilationRequest): CompiledInstall => {
  const { declaration, manifestKey } = request
  switch (declaration._tag) {
    case "Absent":
      return genericInstall(request, "absent", [])
    case "Refused":
      return genericInstall(request, "invalid", declaration.refusal.diagnostics)
    case "Parsed": {
      const { modules } = declaration.manifest.install
      const module = Object.hasOwn(modules, manifestKey) ? modules[manifestKey] : undefined
      return module === undefined
        ? genericInstall(request, "not_declared", [])
        : adopt(request, declaration.manifest, module)
    }
  }
}

const lacking: Readonly<Record<"absent" | "not_declared", (version: string) => ManifestDiagnostic>> = {
  absent: (version) => ({
    path: "",
    code: "manifest_absent",
    message: `The repository has no manifest; the operator requires ${version}.`
  }),
  not_declared: (version) => ({
    path: "/install/modules",
    code: "module_not_declared",
    message: `The manifest does not declare the selected module; the operator requires it in ${version}.`
  })
}

/** Returns the reasons why a compiled install does not meet the operator's requirement for manifest version `version`. */
const shortcomings = (compiled: CompiledInstall, version: string): ReadonlyArray<ManifestDiagnostic> => {
  if (compiled.assistance === "absent" || compiled.assistance === "not_declared")
    return [lacking[compiled.assistance](version)]
  if (compiled.assistance !== "adopted") return compiled.diagnostics
  if (compiled.manifestVersion === version) return []
  return [{ path: "/apiVersion", code: "manifest_version_mismatch", message: `The operator requires ${version}.` }]
}

/**
 * Compiles the manifest, the report and the operator's limits into the contents of an InstallConfig. A manifest is adopted
 * as a whole or not at all. If any part cannot be verified or is not allowed, the install continues as a generic install and
 * lists the reasons; this is an error only if the operator requires an exact version. If the evidence does not match,
 * compilation always fails.
 */
export const compileInstallConfig = (
  request: CompilationRequest
): Result.Result<CompiledInstall, InstallEvidenceMismatch | ManifestRequired> => {
  const evidence = checkEvidence(request)
  if (Result.isFailure(evidence)) return Result.fail(evidence.failure)
  const compiled = compileDeclaration(request)
  const { requiredManifestVersion } = request.policy
  if (requiredManifestVersion === undefined) return Result.succeed(compiled)
  const diagnostics = shortcomings(compiled, requiredManifestVersion)
  return Arr.isReadonlyArrayNonEmpty(diagnostics)
    ? Result.fail(new ManifestRequired({ requiredVersion: requiredManifestVersion, diagnostics }))
    : Result.succeed(compiled)
}
