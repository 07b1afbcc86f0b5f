import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { buildColumns } from "../../../../../actors/ledger/build/BuildColumns.ts"
import { ResourceHistory } from "../../../../../actors/ledger/state/ResourceHistory.ts"
import { StateResources } from "../../../../../actors/ledger/state/StateResources.ts"
import { StateVersions } from "../../../../../actors/ledger/state/StateVersions.ts"
import type { SecretText } from "../../../../../runner/redaction/SecretText.ts"
import { CapsuleId, InstallConfigId, StateVersionId, WorkspaceId } from "../../../../../schema/records/Ids.ts"
import { representativeRows } from "../../../../src/database/support/RepresentativeRows.ts"
import { testAccounts } from "../../../../support/Accounts.ts"
import { namedRun } from "../../../../support/NamedIds.ts"

const of = (prefix: string, letter: string) => `${prefix}_${letter.repeat(24)}`
export const workspaceId = WorkspaceId.make(of("ws", "a"))
export const first = CapsuleId.make(of("cap", "a"))
export const second = CapsuleId.make(of("cap", "b"))

const rows = ["users", "workspaces", "projects", "connections", "sources", "install_configs", "capsules"]

/** Sets up two Capsules that have never been applied. */
export const emptyCapsules = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["state_indexes", "resource_versions", "output_versions", "outputs", "state_versions"]) {
    yield* sql`DELETE FROM ${sql(table)}`
  }
  for (const [table, values] of representativeRows) {
    if (rows.includes(table)) yield* sql`INSERT INTO ${sql(table)} ${sql.insert(values)} ON CONFLICT DO NOTHING`
  }
  yield* sql`UPDATE capsules SET current_state_version_id = NULL`
}).pipe(Effect.orDie)

/** A resource instance in the tool's state. */
export const resource = (
  address: string,
  attributes: Readonly<Record<string, unknown>>,
  more: {
    readonly sensitive?: ReadonlyArray<string>
    readonly deposed?: string
    readonly provider?: string
    /** The instance's key, which `for_each` or `count` assigns. */
    readonly key?: string
    readonly tainted?: boolean
  } = {}
) => {
  const [type, name] = address.split(".")
  return {
    mode: "managed",
    type,
    name,
    provider: `provider["registry.terraform.io/${more.provider ?? "hashicorp/aws"}"]`,
    instances: [
      {
        attributes,
        ...(more.key === undefined ? {} : { index_key: more.key }),
        ...(more.tainted === true ? { status: "tainted" } : {}),
        ...(more.deposed === undefined ? {} : { deposed: more.deposed }),
        sensitive_attributes: (more.sensitive ?? []).map((value) => [{ type: "get_attr", value }])
      }
    ]
  }
}

export const stateText = (
  resources: ReadonlyArray<ReturnType<typeof resource>>,
  outputs: Readonly<Record<string, unknown>> = {}
) =>
  JSON.stringify({
    version: 4,
    serial: 1,
    lineage: "lineage",
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, { type: "string", value }])),
    resources
  })

interface Committed {
  readonly capsuleId?: CapsuleId
  readonly secrets?: ReadonlyArray<string>
}

/** Commits the Capsule's next state, as an apply would. The generation is part of the Run's id. */
export const committed = Effect.fnUntraced(function* (generation: number, text: string, options: Committed = {}) {
  const sql = yield* SqlClient.SqlClient
  const states = yield* StateVersions
  const capsuleId = options.capsuleId ?? first
  const { id } = yield* states.insert({
    workspaceId,
    capsuleId,
    runId: namedRun(`${capsuleId.slice(-1)}${generation}`),
    generation,
    state: Redacted.make(new TextEncoder().encode(text)),
    lineage: "lineage",
    serial: generation,
    resourceCount: 1,
    partial: false,
    sourceSnapshotId: undefined,
    installConfigId: InstallConfigId.make(of("icfg", "a")),
    outputs: [],
    secrets: (options.secrets ?? []).map((value): SecretText => ({ origin: "var", value: Redacted.make(value) })),
    build: buildColumns(undefined)
  })
  yield* sql`UPDATE capsules SET current_state_version_id = ${id} WHERE id = ${capsuleId}`
  return StateVersionId.make(id)
}, Effect.orDie)

/** Deletes the index of all states, to simulate an upgrade from a release without an index. */
export const unread = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["state_indexes", "resource_versions", "output_versions"]) {
    yield* sql`DELETE FROM ${sql(table)}`
  }
}).pipe(Effect.orDie)

export const indexServices = Layer.mergeAll(StateVersions.layer, StateResources.layer, ResourceHistory.layer).pipe(
  Layer.provideMerge(testAccounts)
)
