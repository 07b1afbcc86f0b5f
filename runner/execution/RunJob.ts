import { type Duration, type Effect, type Redacted, Schema } from "effect"
import type { SourceBuild, ToolIdentity } from "../../schema/records/Run.ts"
import type { SecretText } from "../redaction/SecretRule.ts"
import type { RunDemands } from "../sandbox/RunDemands.ts"

/** The files of the snapshot could not be written out. */
export class ExtractionFailed extends Schema.TaggedError<ExtractionFailed>()("ExtractionFailed", {
  message: Schema.String
}) {}

/** A local module call that the scan found. `key` is nested with dots; `dir` is relative to the root module's folder. */
export interface LocalModule {
  readonly key: string
  readonly source: string
  readonly dir: string
}

export interface CredentialFile {
  /** One path segment. */
  readonly name: string
  readonly content: Redacted.Redacted<Uint8Array>
  /** Receives the path of the file. */
  readonly envName?: string | undefined
}

/**
 * What one provider configuration of the root module gets.
 *
 * - `provider`: normalised source address; configurations of one provider share it
 * - `alias`: absent for the default configuration
 * - `inherited`: only child modules name the provider, so the root module has no meaning for `moduleLocalName` yet
 * - `connection`: equal for equal credentials; absent when the configuration has none
 * - `values`: secret values by environment name
 * - `config`: non-secret provider arguments
 * - `argumentNames`: the provider argument of the same meaning by environment name, for the case that two configurations of one
 *   provider have different credentials: an environment cannot differ between them
 */
export interface ProviderCredentials {
  readonly provider: string
  readonly moduleLocalName: string
  readonly alias?: string | undefined
  readonly inherited?: boolean | undefined
  readonly connection?: string | undefined
  readonly values: Readonly<Record<string, Redacted.Redacted<string>>>
  readonly files: ReadonlyArray<CredentialFile>
  readonly config: Readonly<Record<string, Schema.Json>>
  readonly argumentNames: Readonly<Record<string, string>>
}

/** A module input. A sensitive one is redacted wherever it appears. */
export interface RunVariable {
  readonly value: Redacted.Redacted<Schema.Json>
  readonly sensitive: boolean
}

/** Bounds of each phase, and how long a cancelled tool may take to stop by itself before it is ended by force. */
export interface RunTiming {
  readonly build: Duration.Input
  readonly init: Duration.Input
  readonly plan: Duration.Input
  readonly show: Duration.Input
  readonly apply: Duration.Input
  readonly planGrace: Duration.Input
  readonly applyGrace: Duration.Input
}

export const defaultTiming: RunTiming = {
  build: "15 minutes",
  init: "15 minutes",
  plan: "1 hour",
  show: "5 minutes",
  apply: "6 hours",
  planGrace: "30 seconds",
  applyGrace: "10 minutes"
}

/** Where providers come from. With `required`, a provider that the mirror does not hold is an error; otherwise its registry is asked. */
export interface ProviderMirror {
  readonly path: string
  readonly required: boolean
}

/**
 * What every run needs.
 *
 * - `runFolder`: absolute, on a durable disk; created here with mode 0700
 * - `extractModule`: writes the snapshot's files into an existing empty folder; called again for a source build
 * - `modulePath`: `.` or canonical relative path of the root module
 * - `lockText`: the dependency lock to use; for a plan only when the module has none of its own
 * - `selfContained`: the scan found no provider to install and no block that says where the state is. When it is wrong, the tool
 *   refuses to plan.
 * - `state`: the state that the run starts from
 * - `stateSecrets`: text of secret inputs that the state may hold without marking it
 * - `variableTypes`: the type constraint of each input, as the module writes it
 * - `demands`: what the execution profile of the Run asks of the machine, of its source build as well
 * - `cancel`: completes when somebody asks the run to stop
 */
export interface RunJob {
  readonly runId: string
  readonly runFolder: string
  readonly extractModule: (target: string) => Effect.Effect<void, ExtractionFailed>
  readonly modulePath: string
  readonly localModules: ReadonlyArray<LocalModule>
  readonly tool: ToolIdentity & { readonly path: string }
  readonly credentials: ReadonlyArray<ProviderCredentials>
  readonly mirror?: ProviderMirror | undefined
  readonly lockText?: string | undefined
  readonly selfContained?: boolean | undefined
  readonly state?: Redacted.Redacted<Uint8Array> | undefined
  readonly stateSecrets?: ReadonlyArray<SecretText> | undefined
  readonly variableTypes?: Readonly<Record<string, string>> | undefined
  /** Default true: most providers speak to an API. */
  readonly network?: boolean | undefined
  readonly timing?: Partial<RunTiming> | undefined
  readonly demands?: RunDemands | undefined
  readonly cancel: Effect.Effect<void>
}

export interface PlanJob extends RunJob {
  readonly mode: "create_or_update" | "destroy"
  readonly variables: Readonly<Record<string, RunVariable>>
  readonly sourceBuild?: (SourceBuild & { readonly network: boolean }) | undefined
}

/** What a source build made: an archive of the declared outputs, kept in the run folder, laid over the tree of plan and apply. */
export interface BuildArchive {
  readonly path: string
  readonly digest: string
  readonly sizeBytes: number
}

/** A drift check runs on the build of the last apply; it builds nothing. */
export interface DriftJob extends RunJob {
  readonly variables: Readonly<Record<string, RunVariable>>
  readonly build?: BuildArchive | undefined
}

/**
 * Text that was secret when a plan was made. The apply is given no inputs: without this it could not tell what to hide of
 * what its tool prints.
 *
 * - `inputs`: of the sensitive inputs, those in structured ones each
 * - `credentials`: what the plan was made with; the apply may be given others
 * - `marked`: what the plan itself marks as sensitive; not all of it when it is a lot
 */
export interface PlanSecrets {
  readonly inputs: ReadonlyArray<SecretText>
  readonly credentials: ReadonlyArray<SecretText>
  readonly marked: ReadonlyArray<SecretText>
}

/**
 * The apply of a reviewed plan. Credentials that travelled as provider arguments are inside the plan file and are used as they were
 * when it was planned; those of the environment are the job's.
 *
 * - `planDigest`: `sha256:` of the plan file as it was reviewed; another file is refused
 * - `build`: what the plan was made with; another archive is refused
 * - `secrets`: those of the plan
 * - `ephemeralVariables`: the ephemeral inputs that the plan was given; a plan file does not hold them
 */
export interface ApplyJob extends RunJob {
  readonly planFile: Redacted.Redacted<Uint8Array>
  readonly planDigest: string
  readonly secrets: PlanSecrets
  readonly build?: BuildArchive | undefined
  readonly ephemeralVariables?: Readonly<Record<string, Redacted.Redacted<Schema.Json>>> | undefined
}
