import { Duration, Schema } from "effect"
import { ProvidedMarkText } from "../../schema/agent/ProvidedMark.ts"
import { SourceBuild, ToolIdentity } from "../../schema/records/Run.ts"
import { SecretText } from "../redaction/SecretText.ts"
import { RunRequirements } from "../sandbox/RunRequirements.ts"

/*
 * A Run's job as data. It identifies files by their digests and the tool by its requirements, so that another process or
 * machine can execute the job. `RunPlace` finds the files and the tool. An encoded job contains its secrets in plaintext, so
 * it is sealed before it leaves the process.
 */

const SecretBytes = Schema.RedactedFromValue(Schema.Uint8ArrayFromBase64)
const SecretString = Schema.RedactedFromValue(Schema.String)
const SecretJson = Schema.RedactedFromValue(Schema.Json)

/**
 * A call to a local module that the scan found. `key` contains the call names joined with dots; `dir` is relative to the
 * root module's folder.
 */
export const LocalModule = Schema.Struct({ key: Schema.String, source: Schema.String, dir: Schema.String })
export type LocalModule = typeof LocalModule.Type

/** `name` is a single path segment. The environment variable `envName` receives the path of the file. */
export const CredentialFile = Schema.Struct({
  name: Schema.String,
  content: SecretBytes,
  envName: Schema.optional(Schema.String)
})
export type CredentialFile = typeof CredentialFile.Type

/**
 * Credentials and arguments of one provider configuration in the root module.
 *
 * - `provider`: normalised source address; configurations of one provider share it
 * - `alias`: absent for the default configuration
 * - `inherited`: only child modules use the provider's name, so the root module does not define `moduleLocalName`
 * - `connection`: equal for equal credentials; absent if the configuration has none
 * - `values`: secret values, keyed by environment variable
 * - `config`: provider arguments that are not secret
 * - `argumentNames`: equivalent provider arguments, keyed by environment variable; used if two configurations of one
 *   provider have different credentials, because they share one environment
 * - `provided`: name of the executing machine's own credentials; `values` and `files` of the job are then empty, and the
 *   credentials reach the provider only through the environment and files, because a plan file contains arguments
 */
export const ProviderCredentials = Schema.Struct({
  provider: Schema.String,
  moduleLocalName: Schema.String,
  alias: Schema.optional(Schema.String),
  inherited: Schema.optional(Schema.Boolean),
  connection: Schema.optional(Schema.String),
  provided: Schema.optional(Schema.String),
  values: Schema.Record(Schema.String, SecretString),
  files: Schema.Array(CredentialFile),
  config: Schema.Record(Schema.String, Schema.Json),
  argumentNames: Schema.Record(Schema.String, Schema.String)
})
export type ProviderCredentials = typeof ProviderCredentials.Type

/**
 * A module input. svc redacts a sensitive input everywhere.
 * - `type`: the tool's type expression of the Output that supplies the value; it converts strings of digits back to numbers
 */
export const RunVariable = Schema.Struct({
  value: SecretJson,
  type: Schema.optional(Schema.Json),
  sensitive: Schema.Boolean
})
export type RunVariable = typeof RunVariable.Type

/** The time limit of each phase, and the time between cancelling a tool and killing it. */
export const RunTiming = Schema.Struct({
  build: Schema.DurationFromMillis,
  init: Schema.DurationFromMillis,
  plan: Schema.DurationFromMillis,
  show: Schema.DurationFromMillis,
  apply: Schema.DurationFromMillis,
  planGrace: Schema.DurationFromMillis,
  applyGrace: Schema.DurationFromMillis
})
export type RunTiming = typeof RunTiming.Type

export const defaultTiming: RunTiming = {
  build: Duration.minutes(15),
  init: Duration.minutes(15),
  plan: Duration.hours(1),
  show: Duration.minutes(5),
  apply: Duration.hours(6),
  planGrace: Duration.seconds(30),
  applyGrace: Duration.minutes(10)
}

/** Returns the default timing with some limits replaced. */
export const timingWith = (bounds: { readonly [Phase in keyof RunTiming]?: Duration.Input }): RunTiming => {
  const bound = (phase: keyof RunTiming) => {
    const given = bounds[phase]
    return given === undefined ? defaultTiming[phase] : Duration.fromInputUnsafe(given)
  }
  return {
    build: bound("build"),
    init: bound("init"),
    plan: bound("plan"),
    show: bound("show"),
    apply: bound("apply"),
    planGrace: bound("planGrace"),
    applyGrace: bound("applyGrace")
  }
}

/**
 * A module: the archive digest of its snapshot, and the path of the root module in the snapshot (`.`, or a canonical
 * relative path).
 */
export const ModuleReference = Schema.Struct({ snapshotDigest: Schema.String, path: Schema.String })
export type ModuleReference = typeof ModuleReference.Type

/**
 * The result of a source build: an archive of the declared outputs, which plan and apply extract over the tree. `digest` is
 * `sha256:` followed by hexadecimal digits.
 */
export const BuildReference = Schema.Struct({ digest: Schema.String, sizeBytes: Schema.Number })
export type BuildReference = typeof BuildReference.Type

/**
 * The fields that every job has.
 *
 * - `workspaceId`: the Workspace whose installed providers the Run may reuse
 * - `tool`: name and exact version; the machine that executes the job has this tool or refuses the job
 * - `lockText`: the dependency lock; a plan uses it only if the module has no lock
 * - `selfContained`: the scan found no provider to install and no block that configures the state; if the scan was wrong, the
 *   tool refuses to plan
 * - `state`: the initial state
 * - `stateSecrets`: texts from secret inputs that the state may contain unmarked
 * - `addressKey`: the Capsule's key for the digests that replace secret instance keys in addresses
 * - `speculative`: true for a plan that waits for no other Run of its Capsule, and therefore must not share a path with
 *   those Runs
 * - `variableTypes`: the type constraint of each input, as written in the module
 * - `network`: true by default, because most providers call an API
 * - `demands`: the requirements that the Run's execution profile imposes on the machine, including those for its source
 *   build
 */
export const RunJob = Schema.Struct({
  runId: Schema.String,
  workspaceId: Schema.optional(Schema.String),
  module: ModuleReference,
  localModules: Schema.Array(LocalModule),
  tool: ToolIdentity,
  credentials: Schema.Array(ProviderCredentials),
  lockText: Schema.optional(Schema.String),
  selfContained: Schema.optional(Schema.Boolean),
  state: Schema.optional(SecretBytes),
  stateSecrets: Schema.optional(Schema.Array(SecretText)),
  addressKey: Schema.optional(SecretString),
  speculative: Schema.optional(Schema.Boolean),
  variableTypes: Schema.optional(Schema.Record(Schema.String, Schema.String)),
  network: Schema.optional(Schema.Boolean),
  timing: Schema.optional(RunTiming),
  demands: Schema.optional(RunRequirements)
})
export type RunJob = typeof RunJob.Type

/**
 * `mode`: `refresh_only` plans a change that affects only the state, and uses the `build` of the last apply; agents that do
 * not support this mode cannot decode the job. All other modes create a new build. `changeKey`: the Capsule's key for the
 * digest of the change.
 */
export const PlanJob = Schema.Struct({
  ...RunJob.fields,
  mode: Schema.Literals(["create_or_update", "destroy", "refresh_only"]),
  build: Schema.optional(BuildReference),
  changeKey: Schema.optional(SecretString),
  variables: Schema.Record(Schema.String, RunVariable),
  /** `network`: true if the operator allows builds to use the network. */
  sourceBuild: Schema.optional(Schema.Struct({ ...SourceBuild.fields, network: Schema.Boolean }))
})
export type PlanJob = typeof PlanJob.Type

/** Job of a drift check. It has no build commands, because it uses the build of the last apply. */
export const DriftJob = Schema.Struct({
  ...RunJob.fields,
  variables: Schema.Record(Schema.String, RunVariable),
  build: Schema.optional(BuildReference)
})
export type DriftJob = typeof DriftJob.Type

/**
 * The credentials of the executing machine with which a plan was created: their name, and a digest that does not reveal them.
 * `mark` is the mark that the machine also reports outside Runs.
 */
export const ProvidedBinding = Schema.Struct({
  name: Schema.String,
  digest: Schema.String,
  mark: Schema.optional(ProvidedMarkText)
})
export type ProvidedBinding = typeof ProvidedBinding.Type

/**
 * Texts that were secret when a plan was created. The apply receives no inputs, so it needs these texts to redact the tool's
 * output.
 *
 * - `inputs`: values of sensitive inputs; structured values are split into their parts
 * - `credentials`: the credentials with which the plan was created; the apply may use other credentials
 * - `marked`: texts that the plan itself marks as sensitive, up to a limit
 * - `provided`: identifies the runner's own credentials that were used; not a list of texts, but transferred and sealed in
 *   the same way; absent if none were used
 */
export const PlanSecrets = Schema.Struct({
  inputs: Schema.Array(SecretText),
  credentials: Schema.Array(SecretText),
  marked: Schema.Array(SecretText),
  provided: Schema.optional(Schema.Array(ProvidedBinding))
})
export type PlanSecrets = typeof PlanSecrets.Type

/**
 * The apply of a reviewed plan. Credentials passed as provider arguments are in the plan file and cannot change; credentials in
 * the environment come from the job.
 *
 * - `planDigest`: `sha256:` of the reviewed plan file; any other file is refused
 * - `build`: the build with which the plan was created; any other archive is refused
 * - `secrets`: the secrets of the plan
 * - `ephemeralVariables`: the ephemeral inputs of the plan, which are not in a plan file
 * - `ephemeralTypes`: the types of the inputs that come from Outputs
 */
export const ApplyJob = Schema.Struct({
  ...RunJob.fields,
  planFile: SecretBytes,
  planDigest: Schema.String,
  secrets: PlanSecrets,
  build: Schema.optional(BuildReference),
  ephemeralVariables: Schema.optional(Schema.Record(Schema.String, SecretJson)),
  ephemeralTypes: Schema.optional(Schema.Record(Schema.String, Schema.Json))
})
export type ApplyJob = typeof ApplyJob.Type
