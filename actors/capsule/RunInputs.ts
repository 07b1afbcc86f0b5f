import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { ProviderCredentials, RunVariable } from "../../runner/execution/RunJob.ts"
import type { ProviderRequirement, ProviderResolution } from "../../schema/records/Provider.ts"
import { ConnectionId } from "../../schema/records/Ids.ts"
import { requirementKey } from "../../schema/records/Provider.ts"
import { argumentNames, credentialFreeProviders } from "../connection/CredentialRecipes.ts"
import { type ConnectionRow, ConnectionStore, effectiveStatus } from "../connection/ConnectionStore.ts"
import { now } from "../Identity.ts"
import { activeShares } from "../output-share/SharedOutputs.ts"
import { RunSettings } from "../run/RunSettings.ts"
import type { CapsuleRow } from "./CapsuleRow.ts"
import { InstallConfigStore, type LoadedInstallConfig, type StoredConfig } from "./InstallConfigStore.ts"
import { StateVersions } from "./StateVersions.ts"

/** How each requirement of the module is met, with the secrets when all of them are. */
export interface ResolvedProviders {
  readonly resolutions: ReadonlyArray<ProviderResolution>
  readonly blocked: ProviderResolution | undefined
  readonly credentials: ReadonlyArray<ProviderCredentials>
  readonly moduleInputDefaults: Readonly<Record<string, Schema.Json>>
  readonly connectionIds: ReadonlyArray<string>
}

/** A value that the configuration needs and nothing gives. */
export class MissingInput extends Schema.TaggedError<MissingInput>()("MissingInput", { message: Schema.String }) {}

interface ProducerRow {
  readonly name: string
  readonly workspace_id: string
  readonly current_state_version_id: string | null
}

interface DependencyRow {
  readonly producer_capsule_id: string
  readonly mode: string
  readonly outputs: string
}

const DependencyOutputs = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ from: Schema.String, to: Schema.String, required: Schema.Boolean }))
)
const decodeDependencyOutputs = Schema.decodeUnknownEffect(DependencyOutputs)
const decodeJsonRecord = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

/** `DEMO_TOKEN` of provider `acme/demo` is its argument `token`: the convention nearly every provider follows. */
const conventionalArguments = (provider: string, names: ReadonlyArray<string>): Record<string, string> => {
  const prefix = `${(provider.split("/").at(-1) ?? "").toUpperCase().replaceAll("-", "_")}_`
  return Object.fromEntries(
    names
      .filter((name) => name.startsWith(prefix) && name.length > prefix.length)
      .map((name) => [name, name.slice(prefix.length).toLowerCase()])
  )
}

const redactedValues = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Redacted.make(value)]))

/** Gathers what a Run injects: credentials of the bound Connections, and the values of the module's inputs. */
export class RunInputs extends Context.Service<
  RunInputs,
  {
    readonly providers: (
      workspaceId: string,
      installConfigId: string,
      requirements: ReadonlyArray<ProviderRequirement>,
      inherited: ReadonlyArray<string>
    ) => Effect.Effect<ResolvedProviders>
    readonly variables: (
      capsule: CapsuleRow,
      config: LoadedInstallConfig,
      declared: StoredConfig["variables"],
      defaults: Readonly<Record<string, Schema.Json>>
    ) => Effect.Effect<Readonly<Record<string, RunVariable>>, MissingInput>
  }
>()("svc/actors/capsule/RunInputs") {
  static readonly layer = Layer.effect(
    RunInputs,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const configs = yield* InstallConfigStore
      const connections = yield* ConnectionStore
      const states = yield* StateVersions
      const settings = yield* RunSettings

      const blockedBy = (
        requirement: ProviderRequirement,
        row: ConnectionRow | undefined,
        workspaceId: string,
        at: string
      ) => {
        if (settings.deniedProviders.includes(requirement.provider)) {
          return ["blocked_policy", "The operator does not allow this provider."] as const
        }
        if (row === undefined) return undefined
        const status = effectiveStatus(row, at)
        if (status === "revoked" || status === "expired" || status === "error") {
          return ["blocked_missing_connection", `The bound Connection is ${status}.`] as const
        }
        if (row.scope !== "operator" && row.workspace_id !== workspaceId) {
          return ["blocked_policy", "The bound Connection belongs to another Workspace."] as const
        }
        if (row.provider !== requirement.provider) {
          return ["blocked_policy", `The bound Connection is for ${row.provider}.`] as const
        }
        return undefined
      }

      const providers = Effect.fn("RunInputs.providers")(function* (
        workspaceId: string,
        installConfigId: string,
        requirements: ReadonlyArray<ProviderRequirement>,
        inherited: ReadonlyArray<string>
      ) {
        const at = yield* now
        const bound = new Map<string, string>()
        for (const row of yield* configs.bindings(installConfigId)) {
          bound.set(
            requirementKey({
              provider: row.provider,
              moduleLocalName: row.module_local_name,
              childAlias: row.child_alias ?? undefined
            }),
            row.connection_id
          )
        }
        const resolutions: Array<ProviderResolution> = []
        const used: Array<{ readonly requirement: ProviderRequirement; readonly row: ConnectionRow }> = []
        for (const requirement of requirements) {
          const connectionId = bound.get(requirementKey(requirement))
          const row = connectionId === undefined ? undefined : yield* connections.find(connectionId)
          const blocked = blockedBy(requirement, row, workspaceId, at)
          if (blocked !== undefined) {
            resolutions.push({
              ...requirement,
              status: blocked[0],
              blockedReason: blocked[1],
              envNames: [],
              ...(row === undefined ? {} : { connectionId: idOf(row) })
            })
          } else if (row !== undefined) {
            used.push({ requirement, row })
            resolutions.push({
              ...requirement,
              status: "resolved_provider_connection",
              connectionId: idOf(row),
              envNames: namesOf(row)
            })
          } else if (credentialFreeProviders.has(requirement.provider)) {
            resolutions.push({ ...requirement, status: "resolved_provider_connection", envNames: [] })
          } else {
            resolutions.push({
              ...requirement,
              status: "blocked_missing_connection",
              blockedReason: `No Connection is bound to ${requirement.moduleLocalName}${requirement.childAlias === undefined ? "" : `.${requirement.childAlias}`}.`,
              envNames: []
            })
          }
        }
        const blocked = resolutions.find((resolution) => resolution.status !== "resolved_provider_connection")
        if (blocked !== undefined) {
          return { resolutions, blocked, credentials: [], moduleInputDefaults: {}, connectionIds: [] }
        }
        const credentials: Array<ProviderCredentials> = []
        let moduleInputDefaults: Readonly<Record<string, Schema.Json>> = {}
        for (const { requirement, row } of used) {
          const secrets = Redacted.value(yield* connections.secrets(row))
          moduleInputDefaults = { ...(yield* decodeJsonRecord(row.module_input_defaults)), ...moduleInputDefaults }
          credentials.push({
            provider: requirement.provider,
            moduleLocalName: requirement.moduleLocalName,
            alias: requirement.childAlias,
            inherited: inherited.includes(requirement.provider),
            connection: row.id,
            values: redactedValues(secrets.values),
            files: secrets.files.map((file) => ({
              name: file.name,
              content: Redacted.make(new TextEncoder().encode(file.content)),
              envName: file.envName
            })),
            config: yield* decodeJsonRecord(row.provider_config),
            argumentNames: {
              ...conventionalArguments(requirement.provider, Object.keys(secrets.values)),
              ...argumentNames(row.recipe_id)
            }
          })
          yield* connections.touch(row.id)
        }
        return {
          resolutions,
          blocked: undefined,
          credentials,
          moduleInputDefaults,
          connectionIds: used.map(({ row }) => row.id)
        }
      }, Effect.orDie)

      /** Outputs of the Capsules this one depends on, by the variable they go to. */
      const injected = Effect.fnUntraced(function* (capsule: CapsuleRow) {
        const values = new Map<string, RunVariable>()
        const rows = yield* Effect.orDie(sql<DependencyRow>`SELECT producer_capsule_id, mode, outputs FROM dependencies
          WHERE consumer_capsule_id = ${capsule.id} AND mode <> 'remote_state' ORDER BY created_at, id`)
        for (const row of rows) {
          const [producer] = yield* Effect.orDie(sql<ProducerRow>`SELECT name, workspace_id, current_state_version_id
            FROM capsules WHERE id = ${row.producer_capsule_id} AND status <> 'destroyed'`)
          const outputs =
            producer?.current_state_version_id == null ? [] : yield* states.outputs(producer.current_state_version_id)
          // From another Workspace only what it shares at this moment, by the name it shares it under, and never a secret.
          const shared =
            producer === undefined || producer.workspace_id === capsule.workspace_id
              ? undefined
              : yield* activeShares(row.producer_capsule_id, capsule.workspace_id).pipe(
                  Effect.provideService(SqlClient.SqlClient, sql)
                )
          const secretToo = row.mode === "variable_injection" && shared === undefined
          for (const wanted of yield* Effect.orDie(decodeDependencyOutputs(row.outputs))) {
            const name = shared === undefined ? wanted.from : shared.get(wanted.from)
            const output = outputs.find(
              (candidate) => candidate.name === name && (secretToo || candidate.sensitive === 0)
            )
            if (output !== undefined) {
              values.set(wanted.to, { value: yield* states.outputValue(output), sensitive: output.sensitive === 1 })
            } else if (wanted.required) {
              return yield* new MissingInput({
                message: `The input ${wanted.to} needs the Output ${wanted.from} of the Capsule ${producer?.name ?? "that it depends on"}, which gives it no such Output. Apply that Capsule first, or renew the share of its Outputs.`
              })
            }
          }
        }
        return values
      })

      const variables = Effect.fn("RunInputs.variables")(function* (
        capsule: CapsuleRow,
        config: LoadedInstallConfig,
        declared: StoredConfig["variables"],
        defaults: Readonly<Record<string, Schema.Json>>
      ) {
        const values = yield* configs.values(config.row)
        const fromDependencies = yield* injected(capsule)
        const workspaces = yield* Effect.orDie(
          sql<{ handle: string }>`SELECT handle FROM workspaces WHERE id = ${capsule.workspace_id}`
        )
        const result: Record<string, RunVariable> = {}
        for (const variable of declared) {
          const plain = (value: Schema.Json): RunVariable => ({
            value: Redacted.make(value),
            sensitive: variable.sensitive
          })
          // An input may be called `constructor`.
          const given = Object.hasOwn(values, variable.name)
            ? Option.fromUndefinedOr(values[variable.name])
            : Option.none()
          const dependency = fromDependencies.get(variable.name)
          if (dependency !== undefined)
            result[variable.name] = { ...dependency, sensitive: dependency.sensitive || variable.sensitive }
          else if (Option.isSome(given)) result[variable.name] = plain(given.value)
          else if (variable.origin === "capsule_name") result[variable.name] = plain(capsule.name)
          else if (variable.origin === "workspace_scoped_capsule_name") {
            result[variable.name] = plain(`${workspaces[0]?.handle ?? "workspace"}-${capsule.slug}`)
          } else if (Object.hasOwn(defaults, variable.name))
            result[variable.name] = plain(defaults[variable.name] ?? null)
          else if (variable.required) {
            return yield* new MissingInput({
              message: `The required input ${variable.name} has no value. Set it in the configuration.`
            })
          }
        }
        return result
      })

      return RunInputs.of({ providers, variables })
    })
  )
}

const decodeNames = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(Schema.String)))
const namesOf = (row: ConnectionRow): ReadonlyArray<string> => decodeNames(row.env_names)
const idOf = (row: ConnectionRow) => ConnectionId.make(row.id)
