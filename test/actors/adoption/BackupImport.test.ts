import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, FileSystem, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { BackupImport } from "../../../actors/adoption/BackupImport.ts"
import { CapsuleBackups } from "../../../actors/capsule/CapsuleBackups.ts"
import { Capsules } from "../../../actors/capsule/Capsules.ts"
import { InstallPlans } from "../../../actors/install-plan/InstallPlans.ts"
import { StateUploadRow } from "../../../actors/state/StateUploadRow.ts"
import { SealedBackup } from "../../../schema/api/SealedBackup.ts"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import type { StateUpload } from "../../../schema/records/StateUpload.ts"
import { it } from "../../support/Effect.ts"
import { active, applied, driven, freshKey, requestOf, settled } from "../../support/Journey.ts"
import { TestPlane, testPlane } from "../../support/TestPlane.ts"
import { currentState } from "../support/LeftOvers.ts"

setDefaultTimeout(120_000)

const canary = "canary-81c7-imported"
const module = (greeting: string) => ({
  "main.tf": `
    variable "key" {
      type      = string
      sensitive = true
    }
    resource "terraform_data" "secret" { input = var.key }
    resource "terraform_data" "greeting" { input = "${greeting}" }
    output "greeting" { value = terraform_data.greeting.output }`
})

const encodeFile = Schema.encodeEffect(Schema.fromJsonString(SealedBackup))
const bytes = (text: string) => new TextEncoder().encode(text)

const keysOf = Effect.fnUntraced(function* (dataDir: string) {
  const { keys } = JSON.parse(yield* (yield* FileSystem.FileSystem).readFileString(`${dataDir}/master.key`))
  return keys.map(({ key }: { readonly key: string }) => key)
})

/** An installation with two Capsules: the file of a backup of one, of another that has both, and its key. */
const elsewhere = Effect.gen(function* () {
  const { context, dataDir, workspaceId } = yield* TestPlane
  const capsules = yield* Capsules
  const { capsule } = yield* active("moved", module("hello"), { variables: { key: canary } })
  yield* active("stays", { "main.tf": 'resource "terraform_data" "other" {}' })
  const sealed = Effect.fnUntraced(function* (capsuleId?: CapsuleId) {
    const backup = yield* capsules.backup(context, workspaceId, capsuleId)
    return yield* (yield* CapsuleBackups).archive(context, workspaceId, backup.id)
  })
  const [one, both] = [yield* sealed(capsule.id), yield* sealed()]
  const [key = ""] = yield* keysOf(dataDir)
  const { lineage, serial } = yield* currentState(capsule.id)
  return { capsule, one, both, key, lineage, serial }
}).pipe(Effect.provide(testPlane()))

const withKeys = (...keys: ReadonlyArray<string>) =>
  testPlane({ settings: { masterKey: Redacted.make(keys.join(",")) } })
const ownKey = "5c".repeat(32)

const received = Effect.fnUntraced(function* (file: Uint8Array, capsuleId?: CapsuleId, key = freshKey()) {
  const { context, workspaceId } = yield* TestPlane
  return yield* (yield* BackupImport).receive(context, workspaceId, file, capsuleId, key)
})

const installed = Effect.fnUntraced(function* (branch: string, upload: StateUpload) {
  const { commit, context, workspaceId } = yield* TestPlane
  yield* commit(branch, module("hello"))
  const adopt = { uploadId: upload.id, sha256: upload.sha256 }
  const request = { ...(yield* requestOf(branch, { variables: { key: canary } })), adopt }
  const plan = yield* driven((yield* (yield* InstallPlans).create(context, workspaceId, request, freshKey())).value.id)
  if (plan.capsuleId === undefined) return yield* Effect.die(JSON.stringify(plan.diagnostics))
  return { plan, capsuleId: plan.capsuleId }
})

const refusal = <A, E extends { readonly code: string; readonly message: string }, R>(
  refused: Effect.Effect<A, E, R>
) => Effect.map(Effect.flip(refused), ({ code, message }) => [code, message] as const)

describe.skipIf(Bun.which("terraform") === null)("a Capsule of another installation", () => {
  it.live("is disabled until its original no longer manages it, and goes on from a plan without a change", () =>
    Effect.gen(function* () {
      const original = yield* elsewhere
      const file = bytes(yield* encodeFile(original.one))
      yield* Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const capsules = yield* Capsules
        const key = freshKey()
        const { replayed, value: upload } = yield* received(file, undefined, key)
        expect(replayed).toBe(false)
        expect((yield* received(file, undefined, key)).value.id).toBe(upload.id)
        expect(upload).toMatchObject({
          workspaceId,
          lineage: original.lineage,
          serial: original.serial + 1,
          resourceCount: 2,
          importedFrom: {
            capsuleId: original.capsule.id,
            name: "moved",
            generation: 1,
            backupId: original.one.backup.id
          }
        })
        const [sealed] = yield* StateUploadRow.rows(sql)`SELECT * FROM state_uploads WHERE id = ${upload.id}`
        const foreign = new Set(original.one.dataKeys.map(({ id }) => id))
        expect(foreign.has(sealed?.state?.split(".")[1] ?? "")).toBe(false)

        const { capsuleId, plan } = yield* installed("moved", upload)
        expect([plan.phase, plan.nextAction, plan.planRunId]).toEqual(["reviewable", "plan_again", undefined])
        expect(plan.diagnostics.map(({ code }) => code)).toEqual(["original_unconfirmed"])
        const waiting = yield* capsules.read(capsuleId)
        expect(waiting).toMatchObject({ status: "disabled", currentStateGeneration: 1 })
        expect([waiting.import?.from, waiting.import?.confirmedAt]).toEqual([upload.importedFrom, undefined])

        // Nothing goes before the confirmation, and nothing else confirms.
        const refused = yield* Effect.all([
          refusal(capsules.plan(context, capsuleId, undefined)),
          refusal(capsules.driftCheck(context, capsuleId)),
          refusal(capsules.destroyPlan(context, capsuleId, undefined)),
          refusal(capsules.update(context, capsuleId, { status: "active" }))
        ])
        expect(refused.map(([code]) => code)).toEqual(Array(4).fill("failed_precondition"))
        expect((yield* refusal(capsules.confirmImport(context, capsuleId, "Moved")))[0]).toBe("invalid_request")
        expect((yield* capsules.read(capsuleId)).status).toBe("disabled")

        const confirmed = yield* capsules.confirmImport(context, capsuleId, "moved")
        expect(confirmed.capsule.status).toBe("pending")
        expect(confirmed.capsule.import).toMatchObject({ confirmedBy: context.actorKey })
        const first = yield* settled(confirmed.run.id)
        expect([first.status, first.error]).toEqual(["waiting_approval", undefined])
        expect(first.planSummary).toMatchObject({ add: 0, change: 0, replace: 0, destroy: 0 })
        expect(first.diagnostics?.[0]?.summary).toContain("cannot lock its original")
        expect(JSON.stringify([first, confirmed, upload, plan])).not.toContain(canary)
        expect((yield* refusal(capsules.confirmImport(context, capsuleId, "moved")))[0]).toBe("failed_precondition")

        expect((yield* applied(first)).status).toBe("succeeded")
        const state = yield* currentState(capsuleId)
        expect([state.lineage, state.serial > original.serial]).toEqual([original.lineage, true])
        expect((yield* capsules.outputs(capsuleId)).map(({ value }) => value)).toEqual(["hello"])
        const events =
          yield* sql`SELECT action FROM audit_events WHERE action IN ('backup.import', 'capsule.confirm_import')`
        expect(events.map(({ action }) => action)).toEqual(["backup.import", "capsule.confirm_import"])

        // Its lineage lives here now.
        expect((yield* refusal(received(file)))[0]).toBe("state_lineage_known")
      }).pipe(Effect.provide(withKeys(ownKey, original.key)))
    })
  )

  it.live("is refused by name without its key, damaged, or unnamed among several; nothing is stored", () =>
    Effect.gen(function* () {
      const { both, capsule, key, one } = yield* elsewhere
      const whole = yield* encodeFile(one)
      yield* Effect.gen(function* () {
        const [code, message] = yield* refusal(received(bytes(whole)))
        expect(code).toBe("backup_key_missing")
        expect(message).toContain(one.masterKeyIds.join(", "))
        expect(yield* StateUploadRow.rows(yield* SqlClient.SqlClient)`SELECT * FROM state_uploads`).toEqual([])
      }).pipe(Effect.provide(withKeys(ownKey)))

      yield* Effect.gen(function* () {
        const other = one.archive.at(-5) === "A" ? "B" : "A"
        const damaged = { ...one, archive: `${one.archive.slice(0, -5)}${other}${one.archive.slice(-4)}` }
        const unreadable = [
          whole.slice(0, -10),
          "{}",
          whole.replace("svc.sealed-backup/v1", "svc.sealed-backup/v9"),
          yield* encodeFile(damaged),
          // Under the name of another backup.
          yield* encodeFile({ ...one, backup: { ...one.backup, id: both.backup.id } }),
          yield* encodeFile({ ...one, dataKeys: [] })
        ]
        for (const text of unreadable) expect((yield* refusal(received(bytes(text))))[0]).toBe("backup_unreadable")
        const several = bytes(yield* encodeFile(both))
        const [code, message] = yield* refusal(received(several))
        expect([code, message.includes(`${capsule.id} (moved)`)]).toEqual(["invalid_request", true])
        expect(yield* StateUploadRow.rows(yield* SqlClient.SqlClient)`SELECT * FROM state_uploads`).toEqual([])

        const { value } = yield* received(several, capsule.id)
        expect(value.importedFrom?.name).toBe("moved")
      }).pipe(Effect.provide(withKeys(ownKey, key)))
    })
  )
})
