import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { InterfaceBindingRequest } from "../../../schema/manifest/CompiledInstall.ts"
import { CapsuleLedger } from "../capsule/CapsuleLedger.ts"
import type { CapsuleRow } from "../capsule/CapsuleRow.ts"
import { InstallConfigStore } from "../configuration/InstallConfigStore.ts"
import { InstallPolicy } from "../configuration/InstallConfigCompilation.ts"
import { privacyReason, StateVersions } from "../state/StateVersions.ts"
import { now } from "../../base/Identity.ts"
import { type AppliedOutput, MaterializationFailed, resolveInputs } from "./InterfaceInputs.ts"
import { InterfaceLedger } from "./InterfaceLedger.ts"
import { IntentRow } from "./InterfaceRow.ts"
import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import { rowShape } from "../../base/database/Table.ts"
import { type InterfaceId, type StateVersionId, Subject } from "../../../schema/records/Ids.ts"

const Installer = rowShape({ subject: Subject })

/** Carries out the intents that applies record: fills an Interface from the Outputs and creates the requested bindings. */
export class InterfaceMaterialization extends Context.Service<
  InterfaceMaterialization,
  {
    /** Materialises one intent in the caller's transaction. Does nothing if the intent is already done or superseded. */
    readonly materialize: (intentId: string) => Effect.Effect<void>
  }
>()("svc/actors/ledger/interface/InterfaceMaterialization") {
  static readonly layer = Layer.effect(
    InterfaceMaterialization,
    Effect.suspend(() => make)
  )
}

const internalError = new MaterializationFailed({
  code: "internal_error",
  message: "The service could not materialise the Interface. Retry, and look into its log if that fails too."
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleLedger
  const configs = yield* InstallConfigStore
  const states = yield* StateVersions
  const ledger = yield* InterfaceLedger
  const install = yield* InstallPolicy

  const outputsOf = Effect.fnUntraced(function* (stateVersionId: StateVersionId) {
    const outputs = new Map<string, AppliedOutput>()
    for (const row of yield* states.outputs(stateVersionId)) {
      // Omits sensitive values, which are not decrypted, and ephemeral values, which are not in the state.
      const value = row.sensitive === 1 ? undefined : Redacted.value(yield* states.outputValue(row))
      outputs.set(row.name, { name: row.name, value, privacy: privacyReason(row) })
    }
    return outputs
  })

  /** Returns the person who installed the Capsule, or no one if that person is no longer an active member. */
  const installingPrincipal = Effect.fnUntraced(function* (capsule: CapsuleRow) {
    const rows = yield* Installer.rows(sql)`SELECT r.created_by AS subject FROM runs r
      JOIN memberships m ON m.workspace_id = r.workspace_id AND m.subject = r.created_by AND m.status = 'active'
      JOIN users u ON u.subject = r.created_by AND u.status = 'active'
      WHERE r.capsule_id = ${capsule.id} AND r.type = 'plan' AND r.coordinator_kind = 'install_plan'
      ORDER BY r.created_at, r.id LIMIT 1`
    return rows[0]?.subject
  }, Effect.orDie)

  /** Handles each binding request once, so that later applies do not recreate a binding that has been revoked. */
  const bind = Effect.fnUntraced(function* (
    capsule: CapsuleRow,
    interfaceId: InterfaceId,
    intent: IntentRow,
    request: InterfaceBindingRequest
  ) {
    const answered = yield* Effect.orDie(sql`SELECT id FROM interface_bindings
      WHERE interface_id = ${interfaceId} AND consumer_capsule_id IS NULL AND request_key = ${request.key}`)
    if (answered.length > 0) return
    const denied = request.permissions.find(
      (permission) =>
        !install.policy.allowedPermissions.some(
          (allowed) => allowed.permission === permission && allowed.delivery === request.delivery.type
        )
    )
    if (denied !== undefined) {
      return yield* new MaterializationFailed({
        code: "permission_not_allowed",
        message: `The operator does not allow the permissions or the delivery that the binding request ${request.key} contains.`
      })
    }
    const subject = yield* installingPrincipal(capsule)
    if (subject === undefined) {
      return yield* new MaterializationFailed({
        code: "installing_principal_missing",
        message: `The binding request ${request.key} is for the person who installed the Capsule, who is no active member of the Workspace.`
      })
    }
    yield* ledger.insertBinding({
      workspaceId: capsule.workspace_id,
      interfaceId,
      subject,
      requestKey: request.key,
      permissions: request.permissions,
      deliveryType: request.delivery.type,
      status: "ready",
      runId: intent.run_id
    })
  })

  const settled = Effect.fnUntraced(function* (
    intent: IntentRow,
    status: "done" | "failed" | "superseded",
    failure?: MaterializationFailed
  ) {
    yield* sql`UPDATE interface_intents SET ${IntentRow.changes(sql, {
      status,
      code: failure?.code ?? null,
      message: failure?.message ?? null,
      updated_at: yield* now
    })} WHERE id = ${intent.id} AND status = 'pending' AND attempt = ${intent.attempt}`
  }, Effect.orDie)

  const attempted = Effect.fnUntraced(function* (intent: IntentRow) {
    const capsule = yield* capsules.find(intent.capsule_id)
    const config = yield* configs.load(intent.install_config_id)
    const compiled = config?.config.compiled
    const blueprint = compiled?.interfaceBlueprints.find(({ key }) => key === intent.interface_key)
    const stands =
      capsule !== undefined && !isEnded(capsule.status) && capsule.current_state_version_id === intent.state_version_id
    if (!stands || compiled === undefined || blueprint === undefined) return "superseded" as const
    const outputs = yield* outputsOf(intent.state_version_id)
    const inputs = yield* Effect.fromResult(resolveInputs(blueprint, outputs)).pipe(
      Effect.tapError(() => ledger.notReady(capsule.id, blueprint.key))
    )
    const interfaceId = yield* ledger.resolve(capsule, blueprint, inputs)
    for (const request of compiled.bindingRequests) {
      if (request.interfaceKey === blueprint.key) yield* bind(capsule, interfaceId, intent, request)
    }
    return "done" as const
  })

  const materialize = Effect.fn("InterfaceMaterialization.materialize")(function* (intentId: string) {
    const [intent] = yield* Effect.orDie(IntentRow.rows(sql)`SELECT * FROM interface_intents WHERE id = ${intentId}`)
    if (intent === undefined || intent.status !== "pending") return
    const outcome = yield* attempted(intent).pipe(
      Effect.catchTag("MaterializationFailed", Effect.succeed),
      // Uses a savepoint: if materialisation fails with a defect, the partial work is undone, and the failure is recorded,
      // so that svc does not retry it forever.
      sql.withTransaction,
      Effect.catchCause((cause) =>
        Effect.as(Effect.logError("An Interface was not materialised", cause), internalError)
      )
    )
    yield* typeof outcome === "string" ? settled(intent, outcome) : settled(intent, "failed", outcome)
  })

  return InterfaceMaterialization.of({ materialize })
})
