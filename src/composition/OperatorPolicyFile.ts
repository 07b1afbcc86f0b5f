import { createHash } from "node:crypto"
import { Effect, FileSystem, Result, Schema, SchemaIssue } from "effect"
import { OAuthHelperDeclarations } from "../../actors/inputs/connection/OAuthHelperDeclaration.ts"
import { ruleFaults, SignInRules } from "../../actors/access/member/ProvisioningRules.ts"
import { EndpointAssignment } from "../../actors/inputs/delivery/EndpointPolicy.ts"
import { PriceTable } from "../../actors/ledger/run/CostEstimates.ts"
import { decodeJson } from "../../schema/json/JsonDocument.ts"
import { type JsonLimits, repositoryFileLimits } from "../../schema/json/JsonLimits.ts"
import { AllowedPermission, RequirementKindName } from "../../schema/manifest/OperatorPolicy.ts"
import { ManifestVersion } from "../../schema/manifest/RepositoryManifest.ts"
import { defaultProfile, ExecutionProfiles } from "../../schema/policy/ExecutionProfile.ts"
import { OperatorBaseConfig, placeOf } from "../../schema/policy/OperatorBaseConfig.ts"
import { forbiddenMaterial } from "../../schema/secret-material/SecretScan.ts"
import { SettingsRefused } from "../settings/SettingsRefused.ts"

/**
 * The operator's policy file: ceilings on manifests, execution profiles, base configurations of modules, the addresses
 * assigned to Capsules, the prices of resources, the ways to create Connections, and the rules for accounts that upstream
 * sign-in creates. Absent parts have defaults.
 */
export const OperatorPolicyFile = Schema.Struct({
  repositoryInstallUx: Schema.optionalKey(
    Schema.Struct({
      requiredManifestVersion: Schema.optionalKey(ManifestVersion),
      allowedRequirementKinds: Schema.optionalKey(Schema.Array(RequirementKindName)),
      allowedOidcScopes: Schema.optionalKey(Schema.Array(Schema.String)),
      allowedOidcCallbackPaths: Schema.optionalKey(Schema.Array(Schema.String)),
      runtimeOidcBindings: Schema.optionalKey(Schema.Boolean),
      allowedPermissions: Schema.optionalKey(Schema.Array(AllowedPermission))
    })
  ),
  profiles: Schema.optionalKey(ExecutionProfiles),
  baseConfigs: Schema.optionalKey(Schema.Array(OperatorBaseConfig).check(Schema.isMaxLength(500))),
  endpoints: Schema.optionalKey(Schema.Array(EndpointAssignment)),
  prices: Schema.optionalKey(PriceTable),
  oauthHelpers: Schema.optionalKey(OAuthHelperDeclarations),
  signIn: Schema.optionalKey(SignInRules)
})
export type OperatorPolicyFile = typeof OperatorPolicyFile.Type

/** Limits of a policy file. They are sufficient for ten thousand prices. */
export const policyFileLimits: JsonLimits = {
  ...repositoryFileLimits,
  maxBytes: 4 * 1024 ** 2,
  maxNodes: 512 * 1024,
  exactNumbers: true
}

/** A fault in a policy file. `path` is a JSON pointer, which is empty if the fault concerns the entire file. */
export interface PolicyFault {
  readonly path: string
  readonly message: string
}

/** A parsed policy file. `digest` is the `sha256:` digest of its bytes. */
export interface ReadPolicy {
  readonly policy: OperatorPolicyFile
  readonly digest: string
}

const decodePolicy = Schema.decodeUnknownEffect(OperatorPolicyFile, { errors: "all", onExcessProperty: "error" })
const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

const pointerTo = (path: ReadonlyArray<PropertyKey>): string =>
  path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

/** Lists all strings within a value, each with its path. */
const textsOf = (path: string, value: Schema.Json): ReadonlyArray<readonly [string, string]> => {
  if (typeof value === "string") return [[path, value]]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => textsOf(`${path}${pointerTo([name])}`, member))
}

const baseFaults = ({ baseConfigs = [], profiles = {} }: OperatorPolicyFile): ReadonlyArray<PolicyFault> => {
  const places = new Map<string, number>()
  return baseConfigs.flatMap((config, index) => {
    const at = `/baseConfigs/${index}`
    const faults: Array<PolicyFault> = []
    const place = placeOf(config)
    const earlier = places.get(place)
    places.set(place, index)
    if (earlier !== undefined) {
      faults.push({ path: at, message: `Is about the same modules as /baseConfigs/${earlier}; only one can count.` })
    }
    const { profile } = config
    if (profile !== undefined && profile !== defaultProfile && !Object.hasOwn(profiles, profile)) {
      faults.push({ path: `${at}/profile`, message: `The file defines no profile ${profile} under "profiles".` })
    }
    const keys = (config.interfaceBlueprints ?? []).map(({ key }) => key)
    if (new Set(keys).size < keys.length) {
      faults.push({ path: `${at}/interfaceBlueprints`, message: "Two Interfaces have the same key." })
    }
    for (const [request, { interfaceKey }] of (config.bindingRequests ?? []).entries()) {
      if (keys.includes(interfaceKey)) continue
      faults.push({
        path: `${at}/bindingRequests/${request}/interfaceKey`,
        message: "Names no Interface of this base configuration."
      })
    }
    for (const [path, text] of textsOf(`${at}/variables`, config.variables ?? {})) {
      if (forbiddenMaterial(text) !== "secret_material") continue
      faults.push({
        path,
        message:
          "Looks like a credential. The file is plain text: give credentials by a Connection, or let people set the input."
      })
    }
    return faults
  })
}

const profileFaults = ({ profiles = {} }: OperatorPolicyFile): ReadonlyArray<PolicyFault> =>
  Object.hasOwn(profiles, defaultProfile)
    ? [
        {
          path: `/profiles/${defaultProfile}`,
          message: "Is the service's own: it is what the server's settings say. Define another name."
        }
      ]
    : []

const signInFaults = ({ signIn }: OperatorPolicyFile): ReadonlyArray<PolicyFault> =>
  ruleFaults(signIn?.rules ?? []).map(({ message, path }) => ({ path: `/signIn/rules${path}`, message }))

/** Returns all faults in a policy file. The result is empty if the file is valid. Never repeats values from the file. */
export const judgePolicy = Effect.fn("judgePolicy")(function* (bytes: Uint8Array) {
  const json = decodeJson(bytes, policyFileLimits)
  if (Result.isFailure(json)) {
    const { message, position } = json.failure
    const at = position === undefined ? "" : `Line ${position.line}, column ${position.column}: `
    return { faults: [{ path: "", message: `${at}${message}` }], policy: undefined }
  }
  const decoded = yield* Effect.result(decodePolicy(json.success))
  if (Result.isFailure(decoded)) {
    const faults = formatIssues(decoded.failure.issue).issues.map(({ message, path }) => ({
      path: pointerTo((path ?? []).map((part) => (typeof part === "object" ? part.key : part))),
      message
    }))
    return { faults, policy: undefined }
  }
  const faults = [...profileFaults(decoded.success), ...baseFaults(decoded.success), ...signInFaults(decoded.success)]
  return { faults, policy: faults.length === 0 ? decoded.success : undefined }
})

/**
 * Reads a policy file. Fails with `SettingsRefused` if the file has any fault, because a policy is applied completely or not
 * at all.
 */
export const readOperatorPolicy = Effect.fn("readOperatorPolicy")(function* (file: string) {
  const files = yield* FileSystem.FileSystem
  const refuse = (reason: string) => new SettingsRefused({ message: `The policy file ${file} ${reason}` })
  const bytes = yield* Effect.mapError(files.readFile(file), () => refuse("cannot be read."))
  const { faults, policy } = yield* judgePolicy(bytes)
  if (policy === undefined) {
    return yield* refuse(
      `is not valid. ${faults.map(({ message, path }) => (path === "" ? message : `${path}: ${message}`)).join("; ")}`
    )
  }
  const read: ReadPolicy = { policy, digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}` }
  return read
})
