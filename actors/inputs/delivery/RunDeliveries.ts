import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { canonicalJson } from "../../base/idempotency/RequestDigest.ts"
import { now } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { CapsuleId, InterfaceBindingId, InterfaceId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"
import type { PlannedSignIn } from "../../../schema/records/Run.ts"

/** Sealed secrets that svc generated for inputs. */
export const GeneratedSecretRow = table("generated_secrets", {
  id: Schema.String,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  target: Schema.String,
  bytes: Schema.Int,
  encoding: Schema.String,
  sealed_value: Schema.String,
  created_at: Timestamp
})
export type GeneratedSecretRow = RowOf<typeof GeneratedSecretRow.columns>

/** The deliveries that plans were created with, sealed. */
export const RunDeliveryRow = table("run_deliveries", {
  run_id: RunId,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  sealed_values: Schema.String,
  authority_digest: Schema.String,
  created_at: Timestamp
})
type RunDeliveryRow = RowOf<typeof RunDeliveryRow.columns>

/**
 * The resolved requirements of a configuration, before the plan. Contains the shapes of generated secrets, but not their values.
 */
export const ResolvedDeliveries = Schema.Struct({
  endpoint: Schema.optionalKey(
    Schema.Struct({
      url: Schema.String,
      subdomain: Schema.optionalKey(Schema.String),
      routePattern: Schema.optionalKey(Schema.String),
      postLogoutPaths: Schema.optionalKey(Schema.Array(Schema.String))
    })
  ),
  identity: Schema.optionalKey(
    Schema.Struct({
      accountsUrl: Schema.String,
      issuerUrl: Schema.String,
      clientId: Schema.String,
      redirectUri: Schema.String
    })
  ),
  secrets: Schema.Array(
    Schema.Struct({ target: Schema.String, bytes: Schema.Int, encoding: Schema.Literals(["hex", "base64url"]) })
  )
})
export type ResolvedDeliveries = typeof ResolvedDeliveries.Type

/** The exact values and choices that a plan was created with. */
export const PinnedDeliveries = Schema.Struct({
  ...ResolvedDeliveries.fields,
  consumed: Schema.Array(Schema.Struct({ key: Schema.String, interfaceId: InterfaceId, bindingId: InterfaceBindingId }))
})
export type PinnedDeliveries = typeof PinnedDeliveries.Type

const PinnedJson = Schema.fromJsonString(PinnedDeliveries)
const encodePinned = Schema.encodeEffect(PinnedJson)
const decodePinned = Schema.decodeUnknownEffect(PinnedJson)

type SidecarRow = Pick<RunDeliveryRow, "run_id" | "workspace_id" | "sealed_values" | "authority_digest">

const place = (workspaceId: WorkspaceId, runId: RunId) => ({
  table: "run_deliveries",
  column: "sealed_values",
  workspaceId,
  rowId: runId
})

const digestPurpose = "run-delivery-authority"

/**
 * The input of the digest that identifies a delivery's authority: the Workspace, the Capsule and its epoch, the complete
 * configuration, and all delivered values.
 */
const authorityText = (planRunId: RunId, capsule: GuardedCapsuleRow, pinned: PinnedDeliveries) =>
  canonicalJson([
    planRunId,
    capsule.workspace_id,
    capsule.id,
    capsule.execution_authority_epoch,
    capsule.install_config_id,
    capsule.install_config_digest,
    pinned
  ])

/** Stores the deliveries of plans: one sealed row per plan, with a keyed digest of the delivery's authority. */
export class RunDeliveries extends Context.Service<
  RunDeliveries,
  {
    /** Saves the deliveries in the transaction that makes the plan ready for review. */
    readonly save: (planRunId: RunId, capsule: GuardedCapsuleRow, pinned: PinnedDeliveries) => Effect.Effect<void>
    /** Returns the deliveries of a plan. Fails if the Capsule's authority has changed since the plan. */
    readonly verified: (
      planRunId: RunId | null,
      capsule: GuardedCapsuleRow
    ) => Effect.Effect<PinnedDeliveries | undefined>
    /** Returns the deliveries of the Capsule's last apply, for destroys and drift checks. */
    readonly lastApplied: (capsuleId: CapsuleId) => Effect.Effect<PinnedDeliveries | undefined>
  }
>()("svc/actors/inputs/delivery/RunDeliveries") {
  static readonly layer = Layer.effect(
    RunDeliveries,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault

      const open = (row: SidecarRow) =>
        vault
          .openText(place(row.workspace_id, row.run_id), row.sealed_values)
          .pipe(Effect.flatMap((text) => decodePinned(Redacted.value(text))))

      const save = Effect.fn("RunDeliveries.save")(function* (
        planRunId: RunId,
        capsule: GuardedCapsuleRow,
        pinned: PinnedDeliveries
      ) {
        // Deletes the deliveries of plans that can no longer be applied.
        yield* sql`DELETE FROM run_deliveries WHERE capsule_id = ${capsule.id} AND run_id IN (
          SELECT id FROM runs WHERE capsule_id = ${capsule.id}
            AND status IN ('superseded', 'expired', 'cancelled', 'failed'))`
        yield* sql`INSERT INTO run_deliveries ${RunDeliveryRow.values(sql, {
          run_id: planRunId,
          workspace_id: capsule.workspace_id,
          capsule_id: capsule.id,
          sealed_values: yield* vault.seal(
            place(capsule.workspace_id, planRunId),
            Redacted.make(yield* encodePinned(pinned))
          ),
          authority_digest: yield* vault.mac(digestPurpose, authorityText(planRunId, capsule, pinned)),
          created_at: yield* now
        })}`
      }, Effect.orDie)

      const verified = Effect.fn("RunDeliveries.verified")(function* (
        planRunId: RunId | null,
        capsule: GuardedCapsuleRow
      ) {
        if (planRunId === null) return undefined
        const [row] = yield* RunDeliveryRow.some(
          sql,
          "run_id",
          "workspace_id",
          "sealed_values",
          "authority_digest"
        )`SELECT run_id, workspace_id, sealed_values, authority_digest
          FROM run_deliveries WHERE run_id = ${planRunId} AND capsule_id = ${capsule.id}`
        if (row === undefined) return undefined
        const pinned = yield* open(row)
        const text = authorityText(planRunId, capsule, pinned)
        return (yield* vault.verifyMac(digestPurpose, text, row.authority_digest)) ? pinned : undefined
      }, Effect.orDie)

      const lastApplied = Effect.fn("RunDeliveries.lastApplied")(function* (capsuleId: CapsuleId) {
        const [row] = yield* RunDeliveryRow.some(
          sql,
          "run_id",
          "workspace_id",
          "sealed_values",
          "authority_digest"
        )`SELECT d.run_id, d.workspace_id, d.sealed_values, d.authority_digest
          FROM run_deliveries d JOIN runs a ON a.plan_run_id = d.run_id AND a.type = 'apply'
          WHERE d.capsule_id = ${capsuleId} AND a.started_at IS NOT NULL
          ORDER BY CASE WHEN a.status = 'succeeded' THEN 0 ELSE 1 END, a.created_at DESC, a.id DESC LIMIT 1`
        return row === undefined ? undefined : yield* open(row)
      }, Effect.orDie)

      return RunDeliveries.of({ save, verified, lastApplied })
    })
  )
}

/**
 * Returns the sign-in registration that an apply of the plan makes for the Capsule's application, or `undefined` if it
 * registers none.
 */
export const plannedSignIn = ({ endpoint, identity }: ResolvedDeliveries): PlannedSignIn | undefined =>
  endpoint === undefined || identity === undefined
    ? undefined
    : {
        redirectUri: identity.redirectUri,
        postLogoutRedirectUris: ["", ...(endpoint.postLogoutPaths ?? [])].map((path) => `${endpoint.url}${path}`)
      }
