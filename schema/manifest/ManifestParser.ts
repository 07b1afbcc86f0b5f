import { Array as Arr, Result, Schema } from "effect"
import { decodeJson } from "../json/JsonDocument.ts"
import { repositoryFileLimits } from "../json/JsonLimits.ts"
import { describeDiagnostics, diagnosticReport, jsonDiagnostic, type Report } from "./DiagnosticReport.ts"
import { documentDecoder } from "./DocumentDecoder.ts"
import { ManifestDiagnostic } from "./ManifestDiagnostic.ts"
import { checkPublicMaterial, checkTexts } from "./PublicMaterial.ts"
import {
  manifestDocuments,
  ManifestVersion,
  type ModuleDeclaration,
  type RepositoryManifest
} from "./RepositoryManifest.ts"
import type { DocumentPath } from "./DiagnosticPath.ts"
import type { InputDeclaration } from "./InputDeclaration.ts"
import type { InterfaceDeclaration } from "./InterfaceDeclaration.ts"
import { deliveryTargets, type RequirementDeclaration } from "./RequirementDeclaration.ts"

const maxGeneratedSecrets = 8

/** Calls `onRepeat` for each repeated value. */
const repeats = <Value>(values: Iterable<Value>, onRepeat: (index: number) => void) => {
  const seen = new Set<Value>()
  let index = 0
  for (const value of values) {
    if (seen.has(value)) onRepeat(index)
    seen.add(value)
    index++
  }
}

const checkInput = (input: InputDeclaration, path: DocumentPath, report: Report) => {
  if (input.secret === true && input.source.kind !== "user") {
    report([...path, "secret"], "secret_requires_user_source", 'Only an input with source kind "user" can be secret.')
  }
  if (input.required === true && input.source.kind === "module_default") {
    report(
      [...path, "required"],
      "default_forbids_required",
      "An input that takes the module's default is not required."
    )
  }
  if (input.name === "env" && input.secret === true) {
    report([...path, "secret"], "env_cannot_be_secret", "The input named env cannot be secret.")
  }
  if (input.name === "env" && input.role === "initial_secret") {
    report([...path, "role"], "env_cannot_be_secret", "The input named env cannot have the role initial_secret.")
  }
}

const checkInputs = (inputs: ReadonlyArray<InputDeclaration>, path: DocumentPath, report: Report) => {
  inputs.forEach((input, index) => checkInput(input, [...path, index], report))
  repeats(
    inputs.map((input) => input.name),
    (index) => report([...path, index, "name"], "duplicate_name", "Another input of the module has this name.")
  )
  const roles = inputs.flatMap(({ role }, index) => (role === undefined ? [] : [{ role, index }]))
  repeats(
    roles.map(({ role }) => role),
    (at) =>
      report([...path, roles[at]?.index ?? 0, "role"], "duplicate_role", "Another input of the module has this role.")
  )
}

const checkRequirements = (requirements: ReadonlyArray<RequirementDeclaration>, path: DocumentPath, report: Report) => {
  const ofKind = (kind: RequirementDeclaration["kind"]) =>
    requirements.flatMap((requirement, index) => (requirement.kind === kind ? [index] : []))
  for (const kind of ["http.endpoint", "identity.oidc"] as const) {
    for (const index of ofKind(kind).slice(1)) {
      report([...path, index, "kind"], "duplicate_requirement", `A module has at most one ${kind} requirement.`)
    }
  }
  for (const index of ofKind("secret.generated").slice(maxGeneratedSecrets)) {
    report(
      [...path, index],
      "too_many_generated_secrets",
      `A module has at most ${maxGeneratedSecrets} secret.generated requirements.`
    )
  }
  const claimed = requirements.flatMap((requirement, index) =>
    deliveryTargets(requirement).map(({ lane, slot, target }) => ({
      path: [...path, index, "deliver", lane, slot],
      target
    }))
  )
  repeats(
    claimed.map(({ target }) => target),
    (at) => report(claimed[at]?.path ?? path, "duplicate_delivery", "Another delivery of the module has this target.")
  )
  const consumed = ofKind("interface.consume")
  repeats(
    requirements.flatMap((requirement) => (requirement.kind === "interface.consume" ? [requirement.key] : [])),
    (at) =>
      report(
        [...path, consumed[at] ?? 0, "key"],
        "duplicate_key",
        "Another interface.consume of the module has this key."
      )
  )
  const hasEndpoint = ofKind("http.endpoint").length > 0
  requirements.forEach((requirement, index) => {
    if (requirement.kind !== "identity.oidc") return
    if (!requirement.scopes.includes("openid")) {
      report([...path, index, "scopes"], "oidc_requires_openid", "The scopes must include openid.")
    }
    if (!hasEndpoint) {
      report([...path, index], "oidc_requires_endpoint", "identity.oidc needs an http.endpoint in the same module.")
    }
  })
}

const checkFeatures = (module: ModuleDeclaration, path: DocumentPath, report: Report) => {
  const features = module.features ?? []
  const userInputs = new Set(module.inputs.filter((input) => input.source.kind === "user").map((input) => input.name))
  const claimed = new Set<string>()
  repeats(
    features.map((feature) => feature.id),
    (index) => report([...path, index, "id"], "duplicate_feature", "Another feature of the module has this id.")
  )
  features.forEach((feature, featureIndex) =>
    feature.inputs.forEach((name, index) => {
      const at = [...path, featureIndex, "inputs", index]
      if (!userInputs.has(name)) {
        report(at, "feature_input_not_user", "A feature groups user inputs of the same module.")
      }
      if (claimed.has(name)) report(at, "feature_input_claimed", "Another feature groups this input.")
      claimed.add(name)
    })
  )
}

const checkInterfaces = (interfaces: ReadonlyArray<InterfaceDeclaration>, path: DocumentPath, report: Report) => {
  repeats(
    interfaces.map((declaration) => declaration.key),
    (index) => report([...path, index, "key"], "duplicate_key", "Another Interface of the module has this key.")
  )
  repeats(
    interfaces.map((declaration) => declaration.name),
    (index) => report([...path, index, "name"], "duplicate_name", "Another Interface of the module has this name.")
  )
  const publicTypes = new Map<string, string>()
  interfaces.forEach(({ spec }, index) => {
    for (const [name, input] of Object.entries(spec.inputs ?? {})) {
      if (input.source !== "output") continue
      const known = publicTypes.get(input.outputName)
      if (known !== undefined && known !== input.outputType) {
        report(
          [...path, index, "spec", "inputs", name, "outputType"],
          "conflicting_output_type",
          "One Output is projected as one public type; another input asks for it as another."
        )
      }
      publicTypes.set(input.outputName, known ?? input.outputType)
    }
    const resource = spec.access.resourceUriInput
    if (resource !== undefined && !Object.hasOwn(spec.inputs ?? {}, resource)) {
      report(
        [...path, index, "spec", "access", "resourceUriInput"],
        "unknown_resource_input",
        "Name an input of the same Interface."
      )
    }
  })
}

/** Checks rules that involve several fields, in a document with a valid structure. */
const checkCrossFieldRules = (manifest: RepositoryManifest, report: Report): void => {
  const { defaultModule, modules } = manifest.install
  if (defaultModule !== undefined && !Object.hasOwn(modules, defaultModule)) {
    report(["install", "defaultModule"], "unknown_default_module", "Name a key of modules.")
  }
  for (const [name, module] of Object.entries(modules)) {
    const path = ["install", "modules", name]
    checkInputs(module.inputs, [...path, "inputs"], report)
    checkRequirements(module.requires ?? [], [...path, "requires"], report)
    checkFeatures(module, [...path, "features"], report)
    checkInterfaces(module.interfaces ?? [], [...path, "interfaces"], report)
  }
}

interface NewerPart {
  readonly code: ManifestDiagnostic["code"]
  readonly place: RegExp
  readonly message: (version: ManifestVersion) => string
}

/** Parts that later manifest versions added, with the message for authors who use them in an earlier version. */
const newerParts: ReadonlyArray<NewerPart> = [
  {
    code: "unknown_field",
    place: /^\/install\/defaultModule$/,
    message: (version) =>
      version === "svc.com/v2.4"
        ? "svc.com/v2.4 no longer has defaultModule, which only svc.com/v2.1 to svc.com/v2.3 support. Remove it."
        : `defaultModule needs svc.com/v2.1, v2.2 or v2.3; this document is ${version}.`
  },
  {
    code: "unknown_field",
    place: /^\/install\/modules\/[^/]+\/interfaces$/,
    message: (version) => `interfaces need svc.com/v2 or later; this document is ${version}.`
  },
  {
    code: "unknown_field",
    place: /^\/install\/modules\/[^/]+\/sourceBuild$/,
    message: (version) => `sourceBuild needs svc.com/v2.3 or later; this document is ${version}.`
  },
  {
    code: "invalid_value",
    place: /^\/install\/modules\/[^/]+\/requires\/\d+\/kind$/,
    message: (version) => `interface.consume needs svc.com/v2.2 or later; this document is ${version}.`
  }
]

const before2_2: ReadonlySet<ManifestVersion> = new Set(["svc.com/v1", "svc.com/v2", "svc.com/v2.1"])

/** Adds the version that introduced the field to the diagnostic. */
const nameRequiredVersion =
  (version: ManifestVersion) =>
  (diagnostic: ManifestDiagnostic): ManifestDiagnostic => {
    const part = newerParts.find(({ code, place }) => code === diagnostic.code && place.test(diagnostic.path))
    if (part === undefined) return diagnostic
    if (part.code === "unknown_field") return { ...diagnostic, message: part.message(version) }
    return before2_2.has(version)
      ? { ...diagnostic, message: `${diagnostic.message} ${part.message(version)}` }
      : diagnostic
  }

/** The manifest was rejected, with the reasons. `apiVersion` is present if it was recognised. */
export class ManifestRefusal extends Schema.TaggedError<ManifestRefusal>()("ManifestRefusal", {
  apiVersion: Schema.optionalKey(ManifestVersion),
  diagnostics: Schema.NonEmptyArray(ManifestDiagnostic)
}) {
  override get message() {
    return `The repository manifest is invalid: ${describeDiagnostics(this.diagnostics)}`
  }
}

type Decoded = Result.Result<RepositoryManifest, Arr.NonEmptyReadonlyArray<ManifestDiagnostic>>

const decoders: Readonly<Record<ManifestVersion, (value: Schema.Json) => Decoded>> = {
  "svc.com/v1": documentDecoder(manifestDocuments["svc.com/v1"]),
  "svc.com/v2": documentDecoder(manifestDocuments["svc.com/v2"]),
  "svc.com/v2.1": documentDecoder(manifestDocuments["svc.com/v2.1"]),
  "svc.com/v2.2": documentDecoder(manifestDocuments["svc.com/v2.2"]),
  "svc.com/v2.3": documentDecoder(manifestDocuments["svc.com/v2.3"]),
  "svc.com/v2.4": documentDecoder(manifestDocuments["svc.com/v2.4"])
}

const isVersion = Schema.is(ManifestVersion)
const isObject = (value: Schema.Json): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const refuse = (diagnostics: Arr.NonEmptyReadonlyArray<ManifestDiagnostic>, apiVersion?: ManifestVersion) =>
  Result.fail(new ManifestRefusal({ diagnostics, ...(apiVersion === undefined ? {} : { apiVersion }) }))

/**
 * Parses a repository manifest from a value of `decodeJson`. The version determines the closed structure. Then checks rules that
 * involve several fields, and searches for material that a public document must not contain.
 */
export const parseManifestValue = (value: Schema.Json): Result.Result<RepositoryManifest, ManifestRefusal> => {
  if (!isObject(value)) return refuse([{ path: "", code: "wrong_type", message: "Expected an object." }])
  const apiVersion: unknown = Object.hasOwn(value, "apiVersion") ? value["apiVersion"] : undefined
  if (!isVersion(apiVersion)) {
    const message = `Expected one of ${ManifestVersion.literals.join(", ")}.`
    return refuse([{ path: "/apiVersion", code: "unknown_version", message }])
  }
  const { diagnostics, report } = diagnosticReport()
  checkTexts(value, report)
  const decoded = decoders[apiVersion](value)
  if (Result.isFailure(decoded)) {
    const named = Arr.map(decoded.failure, nameRequiredVersion(apiVersion))
    return refuse(Arr.appendAll(named, diagnostics), apiVersion)
  }
  checkCrossFieldRules(decoded.success, report)
  checkPublicMaterial(decoded.success, report)
  return Arr.isReadonlyArrayNonEmpty(diagnostics) ? refuse(diagnostics, apiVersion) : Result.succeed(decoded.success)
}

/** Parses a repository manifest from the exact bytes of `.well-known/svc.json`. */
export const parseRepositoryManifest = (bytes: Uint8Array): Result.Result<RepositoryManifest, ManifestRefusal> => {
  const decoded = decodeJson(bytes, repositoryFileLimits)
  return Result.isFailure(decoded) ? refuse([jsonDiagnostic(decoded.failure)]) : parseManifestValue(decoded.success)
}
