import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type BuildReference, type PlanSecrets, ProvidedBinding } from "../../../runner/execution/RunJob.ts"
import { secretRuleVersion } from "../../../runner/redaction/SecretRule.ts"
import { now } from "../../base/Identity.ts"
import { buildColumns, BuildColumns, storedBuild } from "../../ledger/build/BuildColumns.ts"
import { type ConsumedOutput, encodeConsumed } from "../../ledger/consumption/ConsumedOutputs.ts"
import { ProvidedMarksJson } from "../agent-pool/PoolRows.ts"
import { keyedMarks } from "../agent-pool/ProvidedMarks.ts"
import { fromStoredSecrets, StoredSecrets, toStoredSecrets } from "../../base/vault/SealedSecrets.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { RunId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { table } from "../../base/database/Table.ts"

/** Saved plans. `plan_file` and `sealed_secrets` are sealed. */
export const RunPlanRow = table("run_plans", {
  run_id: RunId,
  plan_file: Schema.String,
  lock_text: Schema.String,
  created_at: Timestamp,
  ...BuildColumns.columns,
  sealed_secrets: Schema.NullOr(Schema.String),
  /** JSON: the dependencies and shares that supplied values to the plan. */
  consumed_outputs: Schema.NullOr(Schema.String),
  /**
   * Marks of the agent's own credentials that the plan used. `null` if the plan used no such credentials, or if the agent
   * reported no marks.
   */
  provided_marks: Schema.NullOr(ProvidedMarksJson),
  /** Version of the redaction rules that were applied to the plan. */
  secret_rule: Schema.NullOr(Schema.Int)
})

/** A saved plan, ready for its apply. The file contains secrets in plain text, so it is sealed before it is stored. */
export interface SavedPlan {
  readonly planFile: Redacted.Redacted<Uint8Array>
  readonly secrets: PlanSecrets
  /** The provider lock; empty if the module uses no installed provider. */
  readonly lockText: string
  /** The output of the plan's source build, which the apply must use. */
  readonly build?: BuildReference | undefined
}

/** A plan with the Outputs that it consumed from other Capsules. */
export interface ConsumingPlan extends SavedPlan {
  readonly consumed: ReadonlyArray<ConsumedOutput>
}

const place = (workspaceId: WorkspaceId, runId: RunId) => ({
  table: "run_plans",
  column: "plan_file",
  workspaceId,
  rowId: runId
})

const secretsPlace = (workspaceId: WorkspaceId, runId: RunId) => ({
  ...place(workspaceId, runId),
  column: "sealed_secrets"
})

const SecretsJson = Schema.fromJsonString(
  Schema.Struct({
    inputs: StoredSecrets,
    credentials: Schema.optionalKey(StoredSecrets),
    marked: StoredSecrets,
    provided: Schema.optionalKey(Schema.Array(ProvidedBinding))
  })
)
const encodeSecrets = Schema.encodeSync(SecretsJson)
const decodeSecrets = Schema.decodeUnknownEffect(SecretsJson)

/**
 * The secrets of a plan. `isComplete` is false if the plan was created before svc recorded secrets, or under redaction rules
 * that recognised fewer secrets.
 */
export interface RecordedSecrets extends PlanSecrets {
  readonly isComplete: boolean
}

/**
 * Stores the saved plan of each plan that is ready for review. The saved plan is deleted when the plan is used, superseded or
 * expired.
 */
export class RunPlans extends Context.Service<
  RunPlans,
  {
    /** Seals a plan before the transaction that saves it. */
    readonly prepare: (
      workspaceId: WorkspaceId,
      runId: RunId,
      plan: Pick<SavedPlan, "planFile" | "secrets">
    ) => Effect.Effect<void>
    /** Saves a plan in the caller's transaction. */
    readonly save: (workspaceId: WorkspaceId, runId: RunId, plan: ConsumingPlan) => Effect.Effect<void>
    readonly load: (workspaceId: WorkspaceId, runId: RunId | null) => Effect.Effect<SavedPlan | undefined>
    /** Returns the secrets recorded with the plan, or `undefined` if the plan has been removed. */
    readonly secrets: (workspaceId: WorkspaceId, runId: RunId | null) => Effect.Effect<RecordedSecrets | undefined>
    readonly drop: (runId: RunId | null) => Effect.Effect<void>
  }
>()("svc/actors/running/execution/RunPlans") {
  static readonly layer = Layer.effect(
    RunPlans,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault

      const opened = Effect.fnUntraced(function* (workspaceId: WorkspaceId, runId: RunId, sealed: string | null) {
        // If the secrets are missing, the release that created the plan did not record any.
        if (sealed === null) return { inputs: [], credentials: [], marked: [] }
        const text = yield* vault.openText(secretsPlace(workspaceId, runId), sealed)
        const { credentials = [], inputs, marked, provided } = yield* decodeSecrets(Redacted.value(text))
        return {
          inputs: fromStoredSecrets(inputs),
          credentials: fromStoredSecrets(credentials),
          marked: fromStoredSecrets(marked),
          ...(provided === undefined ? {} : { provided })
        }
      })

      const encoded = ({ credentials, inputs, marked, provided }: PlanSecrets) =>
        Redacted.make(
          new TextEncoder().encode(
            encodeSecrets({
              inputs: toStoredSecrets(inputs),
              credentials: toStoredSecrets(credentials),
              marked: toStoredSecrets(marked),
              ...(provided === undefined ? {} : { provided })
            })
          )
        )
      /** Secrets of plans that were prepared. */
      const encodedAhead = new WeakMap<PlanSecrets, Redacted.Redacted<Uint8Array>>()

      return RunPlans.of({
        prepare: Effect.fn("RunPlans.prepare")(function* (
          workspaceId: WorkspaceId,
          runId: RunId,
          { planFile, secrets }: Pick<SavedPlan, "planFile" | "secrets">
        ) {
          const bytes = encoded(secrets)
          encodedAhead.set(secrets, bytes)
          yield* vault.sealAhead(place(workspaceId, runId), planFile)
          yield* vault.sealAhead(secretsPlace(workspaceId, runId), bytes)
        }),
        save: Effect.fn("RunPlans.save")(function* (workspaceId: WorkspaceId, runId: RunId, plan: ConsumingPlan) {
          const secrets = encodedAhead.get(plan.secrets) ?? encoded(plan.secrets)
          const marks = yield* keyedMarks(vault, plan.secrets.provided ?? [])
          yield* sql`INSERT INTO run_plans ${RunPlanRow.values(sql, {
            run_id: runId,
            plan_file: yield* vault.seal(place(workspaceId, runId), plan.planFile),
            lock_text: plan.lockText,
            sealed_secrets: yield* vault.seal(secretsPlace(workspaceId, runId), secrets),
            secret_rule: secretRuleVersion,
            provided_marks: marks.length === 0 ? null : ProvidedMarksJson.write(marks),
            consumed_outputs: encodeConsumed(plan.consumed),
            ...buildColumns(plan.build),
            created_at: yield* now
          })}`
        }, Effect.orDie),
        load: Effect.fn("RunPlans.load")(function* (workspaceId: WorkspaceId, runId: RunId | null) {
          if (runId === null) return undefined
          const rows = yield* RunPlanRow.some(
            sql,
            "plan_file",
            "lock_text",
            "sealed_secrets",
            "secret_rule",
            "build_digest",
            "build_size_bytes"
          )`
            SELECT plan_file, lock_text, sealed_secrets, secret_rule, build_digest, build_size_bytes FROM run_plans
            WHERE run_id = ${runId}`
          const row = rows[0]
          // Reviewers of an older plan may see secrets that svc now hides, so a new plan is needed.
          if (row === undefined || row.sealed_secrets === null || row.secret_rule !== secretRuleVersion)
            return undefined
          const planFile = yield* vault.openStored(place(workspaceId, runId), row.plan_file)
          if (Option.isNone(planFile)) return undefined
          return {
            planFile: planFile.value,
            secrets: yield* opened(workspaceId, runId, row.sealed_secrets),
            lockText: row.lock_text,
            build: storedBuild(row)
          }
        }, Effect.orDie),
        secrets: Effect.fn("RunPlans.secrets")(function* (workspaceId: WorkspaceId, runId: RunId | null) {
          if (runId === null) return undefined
          const rows = yield* RunPlanRow.some(sql, "sealed_secrets", "secret_rule")`
            SELECT sealed_secrets, secret_rule FROM run_plans WHERE run_id = ${runId}`
          const row = rows[0]
          if (row === undefined) return undefined
          const secrets = yield* opened(workspaceId, runId, row.sealed_secrets)
          return { ...secrets, isComplete: row.sealed_secrets !== null && row.secret_rule === secretRuleVersion }
        }, Effect.orDie),
        drop: (runId) => sql`DELETE FROM run_plans WHERE run_id = ${runId}`.pipe(Effect.asVoid, Effect.orDie)
      })
    })
  )
}
