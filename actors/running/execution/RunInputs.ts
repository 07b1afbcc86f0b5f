import { Context, Effect, Layer, Redacted, type Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { ProviderCredentials, RunVariable } from "../../../runner/execution/RunJob.ts"
import type { SecretText } from "../../../runner/redaction/SecretText.ts"
import type { ProviderRequirement, ProviderResolution } from "../../../schema/records/Provider.ts"
import { argumentNames } from "../../inputs/connection/CredentialRecipes.ts"
import { SettingsJson } from "../../inputs/connection/ConnectionRow.ts"
import { ConnectionStore } from "../../inputs/connection/ConnectionStore.ts"
import { CredentialsInUse } from "../../inputs/connection/CredentialsInUse.ts"
import { transaction } from "../../base/database/Transaction.ts"
import type { ConsumedOutput } from "../../ledger/consumption/ConsumedOutputs.ts"
import type { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import {
  InstallConfigStore,
  type LoadedInstallConfig,
  type StoredConfig
} from "../../ledger/configuration/InstallConfigStore.ts"
import { inputSource } from "../../ledger/configuration/InputSource.ts"
import { type ProviderUse, resolveProviders } from "./ProviderResolutions.ts"
import { MissingInput, outputInjection } from "./OutputInjection.ts"
import { StoredWorkspace } from "../../ledger/workspace/StoredWorkspace.ts"
import { type RunRow } from "../../ledger/run/RunRow.ts"
import type { InstallConfigId } from "../../../schema/records/Ids.ts"
import { providedService } from "../../base/Provided.ts"

/** The resolution of each provider requirement. It contains the secrets only if all requirements are met. */
export interface ResolvedProviders {
  readonly resolutions: ReadonlyArray<ProviderResolution>
  readonly blocked: ProviderResolution | undefined
  readonly credentials: ReadonlyArray<ProviderCredentials>
  readonly moduleInputDefaults: Readonly<Record<string, Schema.Json>>
  /** Previous values that another Run still uses, and which must therefore be redacted as well. */
  readonly formerSecrets: ReadonlyArray<SecretText>
}

/** Inputs from people and from other Capsules, and the StateVersions that supplied the values from other Capsules. */
export interface GivenVariables {
  readonly values: Readonly<Record<string, RunVariable>>
  readonly consumed: ReadonlyArray<ConsumedOutput>
}

/** Inputs from people and from other Capsules, and the names of the inputs that are missing. */
export interface KnownVariables extends GivenVariables {
  readonly missing: ReadonlyArray<MissingInput>
}

/**
 * Derives provider arguments from variable names. By a convention that nearly every provider follows, the variable
 * `DEMO_TOKEN` of the provider `acme/demo` corresponds to the argument `token`.
 */
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

/** Collects a Run's inputs: the credentials of its Connections and the values of the module's inputs. */
export class RunInputs extends Context.Service<
  RunInputs,
  {
    readonly providers: (
      run: Pick<RunRow, "id" | "workspace_id">,
      installConfigId: InstallConfigId,
      requirements: ReadonlyArray<ProviderRequirement>,
      inherited: ReadonlyArray<string>,
      use: ProviderUse
    ) => Effect.Effect<ResolvedProviders>
    readonly variables: (
      capsule: CapsuleRow,
      config: LoadedInstallConfig,
      declared: StoredConfig["variables"],
      defaults: Readonly<Record<string, Schema.Json>>
    ) => Effect.Effect<GivenVariables, MissingInput>
    /** Like `given`, but omits inputs without a value instead of failing. */
    readonly known: (
      capsule: CapsuleRow,
      config: LoadedInstallConfig,
      declared: StoredConfig["variables"],
      defaults: Readonly<Record<string, Schema.Json>>
    ) => Effect.Effect<KnownVariables>
  }
>()("svc/actors/running/execution/RunInputs") {
  static readonly layer = Layer.effect(
    RunInputs,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const configs = yield* InstallConfigStore
      const connections = yield* ConnectionStore
      const held = yield* CredentialsInUse
      const injected = yield* outputInjection

      // Reads everything in one transaction, so that the values belong to the recorded version even during a rotation.
      const providers = Effect.fn("RunInputs.providers")(
        function* (
          run: Pick<RunRow, "id" | "workspace_id">,
          installConfigId: InstallConfigId,
          requirements: ReadonlyArray<ProviderRequirement>,
          inherited: ReadonlyArray<string>,
          use: ProviderUse
        ) {
          const { resolutions, used } = yield* resolveProviders(run.workspace_id, installConfigId, requirements, use)
          const blocked = resolutions.find((resolution) => resolution.status !== "resolved_provider_connection")
          if (blocked !== undefined) {
            return { resolutions, blocked, credentials: [], moduleInputDefaults: {}, formerSecrets: [] }
          }
          const credentials: Array<ProviderCredentials> = []
          const formerSecrets: Array<SecretText> = []
          let moduleInputDefaults: Readonly<Record<string, Schema.Json>> = {}
          for (const { requirement, row } of used) {
            const secrets = Redacted.value(yield* connections.secrets(row))
            moduleInputDefaults = { ...SettingsJson.read(row.module_input_defaults), ...moduleInputDefaults }
            credentials.push({
              provider: requirement.provider,
              moduleLocalName: requirement.moduleLocalName,
              alias: requirement.childAlias,
              inherited: inherited.includes(requirement.provider),
              connection: row.id,
              provided: row.provided_name ?? undefined,
              values: redactedValues(secrets.values),
              files: secrets.files.map((file) => ({
                name: file.name,
                content: Redacted.make(new TextEncoder().encode(file.content)),
                envName: file.envName
              })),
              config: SettingsJson.read(row.provider_config),
              argumentNames: {
                ...conventionalArguments(requirement.provider, Object.keys(secrets.values)),
                ...argumentNames(row.recipe_id)
              }
            })
            const former = yield* held.former(row.id)
            formerSecrets.push(...former)
            yield* held.hold(run.id, row)
            yield* connections.touch(row.id)
          }
          return {
            resolutions,
            blocked: undefined,
            credentials,
            moduleInputDefaults,
            formerSecrets
          }
        },
        transaction(sql),
        Effect.orDie
      )

      const known = Effect.fn("RunInputs.known")(function* (
        capsule: CapsuleRow,
        config: LoadedInstallConfig,
        declared: StoredConfig["variables"],
        defaults: Readonly<Record<string, Schema.Json>>
      ) {
        const values = yield* configs.values(config.row)
        const { consumed, missing, values: fromDependencies } = yield* injected(capsule)
        const workspaces = yield* Effect.orDie(
          StoredWorkspace.some(sql, "handle")`SELECT handle FROM workspaces WHERE id = ${capsule.workspace_id}`
        )
        const result: Record<string, RunVariable> = {}
        const givers = {
          dependencies: fromDependencies,
          values: new Set(Object.keys(values)),
          connections: new Set(Object.keys(defaults))
        }
        for (const variable of declared) {
          const plain = (value: Schema.Json): RunVariable => ({
            value: Redacted.make(value),
            sensitive: variable.sensitive
          })
          switch (inputSource(variable, givers)) {
            case "dependency": {
              const dependency = fromDependencies.get(variable.name)
              if (dependency === undefined) break
              result[variable.name] = { ...dependency, sensitive: dependency.sensitive || variable.sensitive }
              break
            }
            case "value":
              result[variable.name] = plain(values[variable.name] ?? null)
              break
            case "capsule_name":
              result[variable.name] = plain(capsule.name)
              break
            case "workspace_scoped_capsule_name":
              result[variable.name] = plain(`${workspaces[0]?.handle ?? "workspace"}-${capsule.slug}`)
              break
            case "connection":
              result[variable.name] = plain(defaults[variable.name] ?? null)
              break
            case "module":
              break
            case "missing":
              missing.push(
                new MissingInput({
                  message: `The required input ${variable.name} has no value. Set it in the configuration.`
                })
              )
          }
        }
        return { values: result, consumed, missing }
      })

      const variables = Effect.fn("RunInputs.variables")(function* (
        capsule: CapsuleRow,
        config: LoadedInstallConfig,
        declared: StoredConfig["variables"],
        defaults: Readonly<Record<string, Schema.Json>>
      ) {
        const { consumed, missing, values } = yield* known(capsule, config, declared, defaults)
        const [first] = missing
        return first === undefined ? { values, consumed } : yield* first
      })

      return yield* providedService(RunInputs, { providers, variables, known })
    })
  )
}
