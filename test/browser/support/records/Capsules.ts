import type { Backup, Capsule, Output, StateVersion } from "../../../../src/dashboard/api/Types.ts"
import { ago, commit, digest, without } from "./Seeds.ts"
import { workspaceId } from "./Workspaces.ts"

const capsule = (fields: Partial<Capsule> & Pick<Capsule, "id" | "name">): Capsule => ({
  workspaceId,
  projectId: "prj_0000000000000001",
  slug: fields.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"),
  environment: "production",
  sourceId: "src_0000000000000001",
  modulePath: "modules/service",
  installConfigId: "icfg_0000000000000001",
  status: "active",
  staleReasons: [],
  runtimeSafety: "safe",
  currentStateVersionId: "sv_0000000000000003",
  currentStateGeneration: 3,
  executionAuthorityEpoch: 1,
  adoptedSourceRevision: {
    sourceSnapshotId: "snap_0000000000000002",
    ref: "main",
    path: ".",
    resolvedCommit: commit(39)
  },
  installConfigReAdoption: { authorityGuard: "guard-1" },
  autoUpdate: { enabled: true, apply: false },
  pathFilter: false,
  driftChecks: { mode: "inherit" },
  driftStatus: "none",
  driftCheckedAt: ago(180),
  createdAt: ago(150_000),
  updatedAt: ago(90),
  ...fields
})

export const storefrontId = "cap_0000000000000001"

export const capsules: ReadonlyArray<Capsule> = [
  capsule({
    id: storefrontId,
    name: "storefront",
    publicEndpoint: "https://shop.acme.example/",
    compatibilityReportId: "rep_0000000000000001"
  }),
  capsule({
    id: "cap_0000000000000002",
    name: "checkout",
    status: "stale",
    staleReasons: [
      { kind: "commit", sourceSnapshotId: "snap_0000000000000003" },
      { kind: "input", producerCapsuleId: storefrontId, output: "bucket" }
    ],
    updatedAt: ago(14)
  }),
  capsule({
    id: "cap_0000000000000003",
    name: "billing-database",
    sourceId: "src_0000000000000002",
    modulePath: "postgres",
    status: "error",
    runtimeSafety: "unknown",
    updatedAt: ago(55)
  }),
  capsule({
    id: "cap_0000000000000004",
    name: "network",
    modulePath: "modules/network",
    driftStatus: "drifted",
    driftCheckedAt: ago(33),
    updatedAt: ago(33)
  }),
  capsule({ id: "cap_0000000000000005", name: "storefront", environment: "staging", updatedAt: ago(400) }),
  capsule({ id: "cap_0000000000000006", name: "event-bus", modulePath: "modules/queue", updatedAt: ago(4000) }),
  capsule({
    id: "cap_0000000000000007",
    name: "社内ポータル",
    environment: "本番",
    modulePath: "modules/portal",
    updatedAt: ago(9000)
  }),
  without(
    capsule({
      id: "cap_0000000000000008",
      name: "search",
      status: "pending",
      currentStateGeneration: 0,
      driftStatus: "unknown",
      updatedAt: ago(3)
    }),
    "currentStateVersionId",
    "adoptedSourceRevision"
  )
]

/** The fields that differ in an imported but unconfirmed Capsule. */
export const unconfirmedImport = {
  status: "disabled",
  import: {
    from: {
      backupId: "bkp_0000000000000007",
      workspaceId: "ws_0000000000000007",
      capsuleId: "cap_0000000000000070",
      name: "shop",
      stateVersionId: "sv_0000000000000070",
      stateCreatedAt: ago(900),
      generation: 4,
      serial: 6
    }
  }
} as const satisfies Partial<Capsule>

export const outputs: ReadonlyArray<Output> = [
  {
    name: "url",
    type: "string",
    value: "https://shop.acme.example/",
    sensitive: false,
    stateVersionId: "sv_0000000000000003"
  },
  {
    name: "bucket",
    type: "string",
    value: "acme-shop-assets-production",
    sensitive: false,
    stateVersionId: "sv_0000000000000003"
  },
  {
    name: "script",
    type: "string",
    value: "javascript:alert(1)",
    sensitive: false,
    stateVersionId: "sv_0000000000000003"
  },
  {
    name: "subnets",
    type: ["list", "string"],
    value: ["subnet-0a1b2c", "subnet-0d3e4f"],
    sensitive: false,
    stateVersionId: "sv_0000000000000003"
  }
]

export const stateVersions: ReadonlyArray<StateVersion> = [3, 2, 1].map((generation) => ({
  id: `sv_000000000000000${generation}`,
  workspaceId,
  capsuleId: storefrontId,
  generation,
  serial: generation * 2,
  digest: digest(generation + 50),
  resourceCount: 20 + generation,
  createdByRunId: "run_0000000000000005",
  createdAt: ago(generation === 3 ? 90 : 90 + (3 - generation) * 9000),
  partial: generation === 2,
  origin: "run"
}))

export const backups: ReadonlyArray<Backup> = [
  {
    id: "bkp_0000000000000001",
    workspaceId,
    digest: digest(91),
    sizeBytes: 48_213,
    createdByRunId: "run_0000000000000005",
    createdAt: ago(600)
  },
  {
    id: "bkp_0000000000000002",
    workspaceId,
    capsuleId: storefrontId,
    digest: digest(92),
    sizeBytes: 9144,
    createdByRunId: "run_0000000000000005",
    createdAt: ago(9000)
  }
]
