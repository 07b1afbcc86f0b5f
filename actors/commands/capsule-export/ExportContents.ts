import { Context, Effect, Layer, Option, Redacted, type Schema } from "effect"
import { SqlClient } from "effect/sql"
import { literalTemplate } from "../../../runner/execution/LiteralTemplate.ts"
import { readState } from "../../../runner/document/Documents.ts"
import type { ProviderBlock } from "../../../runner/execution/CredentialDelivery.ts"
import type { InstallConfigId } from "../../../schema/records/Ids.ts"
import type { ProviderRequirement } from "../../../schema/records/Provider.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { carriedVariables, InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import { NamesJson, SettingsJson } from "../../inputs/connection/ConnectionRow.ts"
import { ConnectionStore } from "../../inputs/connection/ConnectionStore.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { Deliveries } from "../../inputs/delivery/Deliveries.ts"
import { RunInputs } from "../../running/execution/RunInputs.ts"
import { configuresState } from "../../running/execution/RunPreparation.ts"
import { decodeScan } from "../../ledger/source/CompatibilityCheck.ts"
import type { SnapshotRow } from "../../ledger/source/SourceRow.ts"
import { SourceStore, toReport } from "../../ledger/source/SourceStore.ts"
import type { StateVersionRow } from "../../ledger/state/StateVersionRow.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { type ExportedInputs, exportedInputs } from "./ExportedInputs.ts"
import type { ExportedProvider } from "./ExportReadme.ts"

/** The state, commit and configuration to export. */
export interface ExportSubject {
  readonly capsule: GuardedCapsuleRow
  readonly state: StateVersionRow
  readonly snapshot: SnapshotRow
}

/** Settings that the module receives. */
export interface ExportSettings {
  readonly inputs: ExportedInputs
  readonly providers: ReadonlyArray<ExportedProvider>
  readonly blocks: ReadonlyArray<ProviderBlock>
  /** True if the module may configure its own backend. */
  readonly hasBackend: boolean
}

export interface ExportContents extends ExportSettings {
  readonly state: Redacted.Redacted<Uint8Array>
  readonly toolVersion: string | undefined
}

const nothing = {}

/** Reads the contents of an export, except the files of the commit. */
export class ExportContentsOf extends Context.Service<
  ExportContentsOf,
  {
    readonly settings: (subject: ExportSubject) => Effect.Effect<ExportSettings>
    /** Reads the contents and decrypts the state, which may be large. Do not call it in a transaction. */
    readonly read: (subject: ExportSubject) => Effect.Effect<ExportContents>
  }
>()("svc/actors/commands/capsule-export/ExportContents") {
  static readonly layer = Layer.effect(
    ExportContentsOf,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const configs = yield* InstallConfigStore
      const connections = yield* ConnectionStore
      const deliveries = yield* Deliveries
      const inputs = yield* RunInputs
      const sources = yield* SourceStore
      const states = yield* StateVersions

      /**
       * Uses the state's configuration if it belongs to the adopted commit, so that a plan made from the export compares
       * matching versions.
       */
      const configOf = Effect.fnUntraced(function* ({ capsule, snapshot, state }: ExportSubject) {
        const id = state.source_snapshot_id === snapshot.id ? state.install_config_id : capsule.install_config_id
        const config = yield* configs.load(id)
        return config ?? (yield* Effect.die(new Error(`InstallConfig ${id} is gone`)))
      })

      /** Returns the settings of the bound Connections, without secrets. */
      const connected = Effect.fnUntraced(function* (
        configId: InstallConfigId,
        requirements: ReadonlyArray<ProviderRequirement>,
        inherited: ReadonlyArray<string>
      ) {
        const providers: Array<ExportedProvider> = []
        const blocks: Array<ProviderBlock> = []
        let defaults: Readonly<Record<string, Schema.Json>> = {}
        for (const binding of yield* configs.bindings(configId)) {
          const { module_local_name: moduleLocalName, provider } = binding
          const alias = binding.child_alias ?? undefined
          const isNeeded = requirements.some(
            (one) => one.provider === provider && one.moduleLocalName === moduleLocalName && one.childAlias === alias
          )
          const connection = isNeeded ? yield* connections.find(binding.connection_id) : undefined
          if (connection === undefined) continue
          defaults = { ...SettingsJson.read(connection.module_input_defaults), ...defaults }
          providers.push({
            provider,
            name: alias === undefined ? moduleLocalName : `${moduleLocalName}.${alias}`,
            environment: NamesJson.read(connection.env_names),
            files: NamesJson.read(connection.file_names)
          })
          const given = Object.entries(SettingsJson.read(connection.provider_config))
          if (given.length === 0) continue
          const body = Object.fromEntries(given.map(([name, value]) => [name, literalTemplate(value)]))
          blocks.push({ provider, moduleLocalName, alias, inherited: inherited.includes(provider), body })
        }
        return { providers, blocks, defaults }
      })

      const settings = Effect.fn("ExportContents.settings")(
        function* (subject: ExportSubject) {
          const { capsule, snapshot } = subject
          const config = yield* configOf(subject)
          const found = yield* sources.newestReport(snapshot.id, capsule.module_path)
          const report = found === undefined ? undefined : toReport(found)
          const scan = found === undefined ? undefined : yield* Effect.orDie(decodeScan(found.module_scan))
          const { compiled, rootProviderRequirements, variables } = config.config
          const declared = report === undefined ? variables : carriedVariables(config.config, report.variables)
          const { blocks, defaults, providers } = yield* connected(
            config.row.id,
            report?.rootProviderRequirements ?? rootProviderRequirements,
            scan?.inheritedProviders ?? []
          )
          const delivered = yield* deliveries
            .lastGiven({ capsule, requires: compiled.requires, variables: declared })
            .pipe(
              Effect.map((given) => Object.fromEntries(given)),
              // Omits values that are no longer available, so that the person has to supply them.
              Effect.catchTag("DeliveryRefused", () => Effect.succeed(nothing))
            )
          const others = declared.filter(({ name }) => !Object.hasOwn(delivered, name))
          const { values: given } = yield* inputs.known(capsule, config, others, defaults)
          return {
            inputs: exportedInputs(declared, { delivered, given }),
            providers,
            blocks,
            hasBackend: scan === undefined || configuresState(scan)
          } satisfies ExportSettings
        },
        transaction(sql),
        Effect.orDie
      )

      const read = Effect.fn("ExportContents.read")(function* (subject: ExportSubject) {
        const given = yield* settings(subject)
        const state = yield* states.open(subject.state)
        const toolVersion = Option.getOrUndefined(yield* readState(Redacted.value(state)))?.toolVersion
        return { ...given, state, toolVersion } satisfies ExportContents
      })

      return ExportContentsOf.of({ settings, read })
    })
  )
}
