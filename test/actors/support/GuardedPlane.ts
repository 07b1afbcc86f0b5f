import { Audit } from "../../../actors/base/audit/Audit.ts"
import { noAgents } from "./NoAgents.ts"
import { Effect, Layer, Redacted } from "effect"
import { ApplyStart } from "../../../actors/running/execution/ApplyStart.ts"
import { ApplySettlement } from "../../../actors/running/execution/ApplySettlement.ts"
import { ChangeApprovals } from "../../../actors/access/approval/ChangeApprovals.ts"
import { Approvals } from "../../../actors/access/approval/Approvals.ts"
import { CapsuleLedger } from "../../../actors/ledger/capsule/CapsuleLedger.ts"
import { InstallConfigCompilation } from "../../../actors/ledger/configuration/InstallConfigCompilation.ts"
import { InstallConfigStore, type StoredConfig } from "../../../actors/ledger/configuration/InstallConfigStore.ts"
import { OperatorSuccession } from "../../../actors/ledger/configuration/OperatorSuccession.ts"
import { BaseComparison } from "../../../actors/running/execution/BaseComparison.ts"
import { RunInputs } from "../../../actors/running/execution/RunInputs.ts"
import { RunPreparation } from "../../../actors/running/execution/RunPreparation.ts"
import { StateIndex } from "../../../actors/ledger/state/StateIndex.ts"
import { StateVersions } from "../../../actors/ledger/state/StateVersions.ts"
import { ConnectionStore } from "../../../actors/inputs/connection/ConnectionStore.ts"
import { ConnectionUses } from "../../../actors/inputs/connection/ConnectionUses.ts"
import { TokenRenewals } from "../../../actors/inputs/connection/TokenRenewals.ts"
import { CredentialsInUse } from "../../../actors/inputs/connection/CredentialsInUse.ts"
import { Deliveries } from "../../../actors/inputs/delivery/Deliveries.ts"
import { Endpoints } from "../../../actors/inputs/delivery/Endpoints.ts"
import { RunHandover } from "../../../actors/running/execution/RunHandover.ts"
import { RunJournal } from "../../../actors/ledger/run/RunJournal.ts"
import { RunLedger } from "../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../actors/ledger/run/RunLifecycle.ts"
import { RunPlans } from "../../../actors/running/execution/RunPlans.ts"
import { RunPreparations } from "../../../actors/ledger/run/RunPreparations.ts"
import { defaultRunSettings, RunSettings } from "../../../actors/ledger/run/RunSettings.ts"
import { CheckImpossible, CompatibilityCheck } from "../../../actors/ledger/source/CompatibilityCheck.ts"
import { StoredCommits } from "../../../actors/inputs/git/StoredCommits.ts"
import { SourceStore } from "../../../actors/ledger/source/SourceStore.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { BuildStore } from "../../../runner/execution/BuildStore.ts"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import type { Tool } from "../../../runner/toolchain/Tool.ts"
import { ToolMissing } from "../../../runner/toolchain/ToolErrors.ts"
import { Toolchain } from "../../../runner/toolchain/Toolchain.ts"
import { defaultConnectionUse } from "../../../schema/records/ConnectionUse.ts"
import type { InstallConfigId } from "../../../schema/records/Ids.ts"
import { ConnectionId } from "../../../schema/records/Ids.ts"
import type { ProviderRequirement } from "../../../schema/records/Provider.ts"
import { seed, world } from "../../src/http/support/World.ts"
import { testFoundation } from "../../support/Actors.ts"
import { testDatabase } from "../../support/Database.ts"
import type { ConnectionRow } from "../../../actors/inputs/connection/ConnectionRow.ts"
import type { SnapshotRow, ReportRow } from "../../../actors/ledger/source/SourceRow.ts"

/** Runs and Capsules in a real database. */
export const ledgers = Layer.mergeAll(
  Approvals.layer,
  ChangeApprovals.layer,
  noAgents,
  RunLedger.layer,
  RunPreparations.layer,
  CapsuleLedger.layer
).pipe(
  Layer.provideMerge(RunLifecycle.layer),
  Layer.provideMerge(RunJournal.layer),
  Layer.provideMerge(Layer.effectDiscard(seed)),
  Layer.provideMerge(testFoundation),
  Layer.provideMerge(testDatabase)
)

export const provider = "registry.opentofu.org/acme/cloud"
const at = "2026-01-01T00:00:00.000Z"

/** Returns a Connection that a Run may use. Tests override individual columns. */
export const connection = (changes: Partial<ConnectionRow> = {}): ConnectionRow => ({
  id: world.connectionId,
  workspace_id: world.workspaceA,
  scope: "workspace",
  provider,
  kind: "provider",
  recipe_id: "generic-env",
  auth_mode: "env",
  display_name: "cloud",
  status: "verified",
  env_names: '["CLOUD_TOKEN"]',
  file_names: "[]",
  origins: null,
  proposed_origins: null,
  sealed_values: null,
  oauth: null,
  oauth_fault: null,
  sealed_tokens: null,
  token_generation: 0,
  provided_pool: null,
  provided_name: null,
  expiry_reported: null,
  provider_config: "{}",
  module_input_defaults: "{}",
  use_rule: JSON.stringify(defaultConnectionUse),
  version: 1,
  removed_at: null,
  last_used_at: null,
  verified_at: at,
  expires_at: null,
  created_at: at,
  updated_at: at,
  ...changes
})

/** Lets everyone use every Connection, because other tests cover those rules. */
export const anybody = Layer.mock(ConnectionUses)({
  isManager: () => Effect.succeed(true),
  grant: (row) =>
    Effect.succeed({
      connectionName: row.display_name,
      connectionVersion: row.version,
      rule: defaultConnectionUse,
      role: "owner",
      basis: "rule",
      automatic: false
    })
})

/** An operator whose base configurations never change. */
export const unmovedOperator = Layer.mock(OperatorSuccession)({
  isBehind: () => Effect.succeed(false),
  placeOf: () => Effect.undefined,
  follow: () => Effect.undefined,
  planMoved: () => Effect.undefined
})

/** Conditions for the start of a Run, apart from the authority in the database. */
export interface PlaneConditions {
  /** The currently installed tool, or `undefined` if none is installed. */
  readonly tool: Pick<Tool, "name" | "version"> | undefined
  readonly requirements: ReadonlyArray<ProviderRequirement>
  /** The Connection that is bound to every requirement. */
  readonly bound: ConnectionRow | undefined
  readonly deniedProviders: ReadonlyArray<string>
  /** The reason why the bound Connection's tokens could not be renewed. */
  readonly unrenewed?: string
  readonly module: Pick<ReportRow, "status"> & { readonly findings: ReadonlyArray<string> }
  readonly planIsSaved: boolean
}

export const ordinary: PlaneConditions = {
  tool: { name: "opentofu", version: "1.10.0" },
  requirements: [],
  bound: undefined,
  deniedProviders: [],
  module: { status: "ready", findings: [] },
  planIsSaved: true
}

export const snapshot: SnapshotRow = {
  id: world.sourceSnapshotId,
  workspace_id: world.workspaceA,
  source_id: world.sourceId,
  url: "https://git.example.test/app.git",
  ref: "refs/heads/main",
  resolved_commit: "0".repeat(40),
  path: ".",
  archive_digest: `sha256:${"0".repeat(64)}`,
  archive_size_bytes: 1,
  file_count: 1,
  omitted: "[]",
  repository_manifest: "{}",
  manifest_document: null,
  warnings: "[]",
  created_by_run_id: world.runId,
  created_at: at,
  authors: null,
  commit_description: null
}

const reportOf = ({ module, requirements }: PlaneConditions): ReportRow => {
  const findings = module.findings.map((code) => ({
    severity: module.status === "unsupported" ? "error" : "warning",
    code,
    message: `The module has ${code}.`
  }))
  const found = { findings, variables: [], outputs: [], providerPackages: [], rootProviderRequirements: requirements }
  return {
    id: world.reportId,
    workspace_id: world.workspaceA,
    source_id: world.sourceId,
    source_snapshot_id: world.sourceSnapshotId,
    module_path: ".",
    status: module.status,
    report: JSON.stringify({
      ...found,
      id: world.reportId,
      sourceId: world.sourceId,
      sourceSnapshotId: world.sourceSnapshotId,
      modulePath: ".",
      status: module.status,
      manifest: { status: "absent", diagnostics: [] },
      createdByRunId: world.runId,
      createdAt: at
    }),
    module_scan: JSON.stringify({
      ...found,
      path: ".",
      status: module.status === "unsupported" ? "unsupported" : "supported",
      moduleCalls: [],
      localModules: [],
      requiredVersion: []
    }),
    contract_digest: "d",
    install_config_id: null,
    created_by_run_id: world.runId,
    created_at: at
  }
}

const config: StoredConfig = {
  compiled: {
    origin: "generic",
    assistance: "absent",
    pins: { sourceSnapshotId: world.sourceSnapshotId, compatibilityReportId: world.reportId, modulePath: "." },
    inputs: [],
    requires: [],
    features: [],
    interfaceBlueprints: [],
    bindingRequests: [],
    outputAllowlist: [],
    diagnostics: []
  },
  variables: [],
  outputs: [],
  rootProviderRequirements: []
}

const configRow = (id: InstallConfigId) => ({
  id,
  workspace_id: world.workspaceA,
  capsule_id: world.capsuleId,
  origin: "generic" as const,
  module_path: ".",
  source_snapshot_id: world.sourceSnapshotId,
  compatibility_report_id: world.reportId,
  contract_digest: "d",
  digest: "d",
  config: "{}",
  private_variables: null,
  predecessor_id: null,
  created_at: at
})

/** Prepares Runs with real approvals and ledgers. All other services are mocked according to the conditions. */
export const preparation = (conditions: PlaneConditions, operator = unmovedOperator) =>
  RunPreparation.layer.pipe(
    Layer.provideMerge(RunInputs.layer),
    Layer.provideMerge(ledgers),
    Layer.provideMerge(
      Layer.mergeAll(
        Layer.succeed(RunSettings, {
          ...defaultRunSettings,
          runsFolder: "/nowhere/runs",
          deniedProviders: conditions.deniedProviders
        }),
        Layer.mock(InstallConfigStore)({
          load: (id) => Effect.succeed(id === null ? undefined : { row: configRow(id), config }),
          values: () => Effect.succeed({}),
          bindings: () =>
            Effect.succeed(
              conditions.bound === undefined
                ? []
                : conditions.requirements.map((requirement) => ({
                    provider: requirement.provider,
                    module_local_name: requirement.moduleLocalName,
                    child_alias: requirement.childAlias ?? null,
                    connection_id: ConnectionId.make(world.connectionId)
                  }))
            )
        }),
        Layer.mock(ConnectionStore)({
          find: () => Effect.succeed(conditions.bound),
          touch: () => Effect.void,
          secrets: () => Effect.succeed(Redacted.make({ values: { CLOUD_TOKEN: "a-cloud-token" }, files: [] }))
        }),
        Layer.mock(TokenRenewals)({
          renew: (ids) =>
            Effect.succeed(
              new Map(
                conditions.unrenewed === undefined ? [] : ids.map((id) => [id, conditions.unrenewed ?? ""] as const)
              )
            )
        }),
        Layer.mock(CredentialsInUse)({ former: () => Effect.succeed([]), hold: () => Effect.void }),
        anybody,
        Layer.mock(SourceStore)({
          find: () => Effect.undefined,
          findSnapshot: () => Effect.succeed(snapshot),
          newestReport: () => Effect.succeed(reportOf(conditions))
        }),
        Layer.mock(StateVersions)({}),
        Layer.mock(StateIndex)({ addressKey: () => Effect.succeed(Redacted.make("address-key")) }),
        operator,
        Layer.mock(Audit)({ append: () => Effect.void }),
        Layer.mock(CompatibilityCheck)({
          check: ({ tool }) =>
            Effect.fail(new CheckImpossible({ code: "module_not_found", message: `Checked again for ${tool}` }))
        }),
        Layer.mock(InstallConfigCompilation)({
          annotate: (staged) => staged,
          verdictOf: () => {
            throw new Error("A Run that starts judges nothing.")
          },
          operatorValues: () => ({}),
          storedConfig: () => {
            throw new Error("A Run that starts compiles nothing.")
          }
        }),
        Layer.mock(SnapshotStore)({}),
        Layer.mock(BaseComparison)({ compare: () => Effect.undefined }),
        Layer.mock(StoredCommits)({ ensure: () => Effect.void }),
        Layer.mock(Toolchain)({
          resolve: () =>
            conditions.tool === undefined
              ? Effect.fail(new ToolMissing({ message: "No tool was found.", remedy: "Install OpenTofu." }))
              : Effect.succeed({ ...conditions.tool, path: "/nowhere/tofu", origin: "path" })
        })
      )
    )
  )

/**
 * Prepares Runs as above, with every service that an apply needs before its tool starts. `started` receives each Run whose
 * tool starts.
 */
export const applyPlane = (conditions: PlaneConditions, started: Array<string>) =>
  Layer.mergeAll(
    Layer.mock(Deliveries)({ verify: () => Effect.succeed(new Map()) }),
    ApplyStart.layer.pipe(Layer.provideMerge(Layer.mock(ApplySettlement)({ settle: () => Effect.undefined }))),
    Layer.mock(BuildStore)({}),
    Layer.mock(Endpoints)({}),
    GitPolicy.layer,
    Layer.mock(RunHandover)({ finished: () => Effect.void }),
    Layer.mock(RunPlans)({
      load: () =>
        Effect.succeed(
          conditions.planIsSaved
            ? {
                planFile: Redacted.make(new Uint8Array()),
                secrets: { inputs: [], credentials: [], marked: [] },
                lockText: ""
              }
            : undefined
        ),
      drop: () => Effect.void
    }),
    Layer.mock(ModuleRunner)({
      confinement: () => Effect.succeed({ isolation: "bubblewrap", network: "isolated" }),
      apply: (job) =>
        Effect.suspend(() => {
          started.push(job.runId)
          return Effect.die("The tool was started; how it ends is not this test's.")
        })
    })
  ).pipe(Layer.provideMerge(preparation(conditions)))
