import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { gunzipSync, gzipSync } from "node:zlib"
import { Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { StateReceipt } from "../../../../actors/commands/adoption/StateReceipt.ts"
import { CapsuleBackups } from "../../../../actors/commands/capsule/CapsuleBackups.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { GeneratedSecrets } from "../../../../actors/inputs/delivery/GeneratedSecrets.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { backupPlace, digestOf } from "../../../../actors/ledger/state/BackupStore.ts"
import { StateUploadRow } from "../../../../actors/ledger/state/StateUploads.ts"
import { StateVersions } from "../../../../actors/ledger/state/StateVersions.ts"
import { partBytes } from "../../../../actors/base/vault/SealedParts.ts"
import { Vault } from "../../../../actors/base/vault/Vault.ts"
import { SealedBackup } from "../../../../schema/api/SealedBackup.ts"
import { CapsuleId } from "../../../../schema/records/Ids.ts"
import type { StateUpload } from "../../../../schema/records/StateUpload.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, driven, freshKey, planned, replanned, requestOf } from "../../../support/Journey.ts"
import { killPoints, processEnd } from "../../../support/KillPoints.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { currentState } from "../../support/OrphanedStateList.ts"
import { lengthened } from "../../support/LongStates.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(180_000)

const key = (digit: string) => digit.repeat(64)
const theirs = key("a")
const kills = killPoints()
const here = testPlane({ settings: { masterKey: Redacted.make(`${key("b")},${theirs}`) } })
const tests = suite(here.pipe(Layer.provide(kills.layer)))
afterAll(tests.dispose)

const canary = "canary-71c0aa-imported"
const module = {
  "main.tf": `
    variable "key" {
      type      = string
      sensitive = true
    }
    resource "terraform_data" "secret" { input = var.key }
    resource "terraform_data" "greeting" { input = "hello" }
    output "greeting" { value = terraform_data.greeting.output }`
}
const shape = { target: "variable:password", bytes: 16, encoding: "hex" } as const

const encodeFile = Schema.encodeSync(Schema.fromJsonString(SealedBackup))
const bytesOf = (file: SealedBackup) => new TextEncoder().encode(encodeFile(file))

/**
 * Sets up an installation with a backup of a Capsule and a backup of the whole Workspace. The tests import the Capsule from
 * both.
 */
const original = (masterKey: string) =>
  Effect.gen(function* () {
    const { context, workspaceId } = yield* TestPlane
    const vault = yield* Vault
    const { capsule } = yield* active("moved", module, { variables: { key: canary } })
    const generated = yield* (yield* GeneratedSecrets).obtain({ id: capsule.id, workspace_id: workspaceId }, shape)
    const state = yield* currentState(capsule.id)
    expect(yield* lengthened(state)).toStartWith("v2.")
    yield* planned("unapplied", module, { variables: { key: canary } })
    const capsules = yield* Capsules
    const backups = yield* CapsuleBackups
    const file = (id: CapsuleId | undefined) =>
      Effect.flatMap(capsules.backup(context, workspaceId, id), (backup) =>
        backups.archive(context, workspaceId, backup.id)
      )
    const one = yield* file(capsule.id)
    const place = backupPlace(workspaceId, one.backup.id)
    const archive = Redacted.value(yield* vault.open(place, one.archive))
    /** Reseals the same backup with changed contents. */
    const withText = Effect.fnUntraced(function* (change: (text: string) => string) {
      const changed = new Uint8Array(gzipSync(change(gunzipSync(archive).toString())))
      return SealedBackup.make({
        ...one,
        backup: { ...one.backup, digest: digestOf(changed) },
        archive: yield* vault.seal(place, Redacted.make(changed))
      })
    })
    // Sealed parts cannot leave the installation, so an export must not refer to them.
    expect(gunzipSync(archive).toString()).not.toContain("v2.dk_")
    return {
      capsule,
      state,
      one,
      whole: yield* file(undefined),
      generated: Redacted.value(generated),
      otherFormat: yield* withText((text) => text.replace("svc.backup/v1", "svc.backup/v2")),
      otherRecords: yield* withText((text) => text.replaceAll('"lineage"', '"line"')),
      older: yield* withText((text) => text.replace(/"generatedSecrets":\[.*?\],"deliveries"/, '"deliveries"'))
    }
  }).pipe(Effect.provide(Layer.fresh(testPlane({ settings: { masterKey: Redacted.make(masterKey) } }))), Effect.scoped)

const uploadOf = Effect.fnUntraced(function* (file: Uint8Array, capsuleId?: CapsuleId) {
  const { context, workspaceId } = yield* TestPlane
  const receipt = yield* StateReceipt
  return (yield* receipt.receiveBackup(context, workspaceId, { file, capsuleId }, freshKey())).value
})
const refusal = (file: Uint8Array, capsuleId?: CapsuleId) =>
  Effect.map(Effect.flip(uploadOf(file, capsuleId)), ({ code, message }) => [code, message])

const importing = Effect.fnUntraced(function* (branch: string, upload: StateUpload) {
  const { commit, context, workspaceId } = yield* TestPlane
  yield* commit(branch, module)
  const request = {
    ...(yield* requestOf(branch, { variables: { key: canary } })),
    adopt: { uploadId: upload.id, sha256: upload.sha256 }
  }
  return yield* driven((yield* (yield* InstallPlans).create(context, workspaceId, request, freshKey())).value.id)
})

describe.skipIf(Bun.which("terraform") === null)("Imported Capsules", () => {
  tests.live(
    "an import is rejected with a reason, or creates a disabled Capsule that continues from its state once confirmed",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const there = yield* original(theirs)
        const text = (value: string) => new TextEncoder().encode(value)

        // A refused import writes nothing.
        const stranger = yield* original(key("c")).pipe(Effect.map(({ one }) => one))
        const missing = yield* refusal(bytesOf(stranger))
        expect(missing).toEqual(["backup_key_missing", expect.stringContaining(stranger.masterKeyIds[0] ?? "none")])
        for (const unreadable of [
          text("no json"),
          text("{}"),
          bytesOf(there.one).slice(0, -2),
          bytesOf({ ...there.one, archive: `${there.one.archive.slice(0, -4)}AAAA` }),
          bytesOf({ ...there.one, backup: { ...there.one.backup, id: there.whole.backup.id } }),
          bytesOf({ ...there.one, backup: { ...there.one.backup, digest: there.whole.backup.digest } }),
          bytesOf({ ...there.one, dataKeys: [] }),
          bytesOf(there.otherRecords)
        ]) {
          expect((yield* refusal(unreadable))[0]).toBe("backup_unreadable")
        }
        // Truncates the archive at sampled positions, and then corrupts its sealed contents at sampled positions.
        const whole = bytesOf(there.one)
        for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 40)) {
          expect((yield* refusal(whole.slice(0, at)))[0]).toBe("backup_unreadable")
        }
        const changedAt = (value: string, at: number) =>
          `${value.slice(0, at)}${value[at] === "A" ? "B" : "A"}${value.slice(at + 1)}`
        const [, sealed = ""] = /^(?:[^.]*\.)*([^.]*)$/.exec(there.one.archive) ?? []
        const begin = there.one.archive.length - sealed.length
        for (let at = begin; at < there.one.archive.length - 4; at += Math.ceil(sealed.length / 40)) {
          const archive = changedAt(there.one.archive, at)
          expect([at, (yield* refusal(bytesOf({ ...there.one, archive })))[0]]).toEqual([at, "backup_unreadable"])
        }
        // The data keys may include keys of values inside the archive, so select the key that sealed the archive itself.
        const dataKey = there.one.dataKeys.find(({ id }) => there.one.archive.includes(id))
        if (dataKey === undefined) return yield* Effect.die("no data key")
        for (const change of [
          { wrappedKey: changedAt(dataKey.wrappedKey, dataKey.wrappedKey.length - 8) },
          { recordKind: "state" },
          { workspaceId },
          { id: dataKey.id.replace(/.$/, dataKey.id.endsWith("x") ? "y" : "x") }
        ]) {
          const dataKeys = there.one.dataKeys.map((key) => (key.id === dataKey.id ? { ...key, ...change } : key))
          const file = { ...there.one, dataKeys }
          expect([change, (yield* refusal(bytesOf(SealedBackup.make(file))))[0]]).toEqual([change, "backup_unreadable"])
        }
        for (const file of [text('{"format":"svc.sealed-backup/v2"}'), bytesOf(there.otherFormat)])
          expect(yield* refusal(file)).toEqual(["backup_format_unknown", expect.stringContaining("/v2")])
        expect(yield* refusal(bytesOf(there.whole))).toEqual([
          "invalid_request",
          expect.stringContaining(`moved (${there.capsule.id})`)
        ])
        expect((yield* refusal(bytesOf(there.one), CapsuleId.make("cap_000000000000000000000000")))[0]).toBe(
          "invalid_request"
        )
        const unapplied = there.whole.capsules.find(({ name }) => name === "unapplied")?.capsuleId
        expect((yield* refusal(bytesOf(there.whole), unapplied))[0]).toBe("failed_precondition")
        expect(yield* sql`SELECT id FROM state_uploads`).toEqual([])

        // An archive from a release without generated secrets contains no generated secrets, and can still be imported.
        yield* uploadOf(bytesOf(there.older))
        const upload = yield* uploadOf(bytesOf(there.whole), there.capsule.id)
        expect(upload).toMatchObject({
          serial: there.state.serial + 1,
          importedFrom: { backupId: there.whole.backup.id, capsuleId: there.capsule.id, serial: there.state.serial }
        })
        const [stored] = yield* StateUploadRow.rows(sql)`SELECT * FROM state_uploads WHERE id = ${upload.id}`
        expect(JSON.stringify([upload, stored])).not.toContain(canary)

        const plan = yield* importing("moved", upload)
        expect(plan).toMatchObject({ phase: "reviewable", nextAction: "none" })
        expect([plan.planRunId, plan.diagnostics.map(({ code }) => code)]).toEqual([undefined, ["import_unconfirmed"]])
        const { capsuleId } = plan
        if (capsuleId === undefined) return yield* Effect.die("no Capsule")
        const disabled = yield* capsules.read(capsuleId)
        expect(disabled).toMatchObject({ status: "disabled", executionAuthorityEpoch: 1, currentStateGeneration: 1 })
        expect([disabled.import?.from, disabled.import?.confirmedAt]).toEqual([upload.importedFrom, undefined])
        expect(disabled.autoUpdate).toEqual({ enabled: false, apply: false })
        const [used] = yield* StateUploadRow.rows(sql)`SELECT * FROM state_uploads WHERE id = ${upload.id}`
        expect([used?.state, used?.sealed_secrets, typeof used?.used_at]).toEqual([null, null, "string"])

        // The state, secrets and generated secrets are imported, and the lineage now belongs to this installation.
        const states = yield* StateVersions
        const state = yield* currentState(capsuleId)
        expect([state.serial, state.lineage]).toEqual([there.state.serial + 1, there.state.lineage])
        expect(Redacted.value(yield* states.open(state)).length).toBeGreaterThan(2 * partBytes)
        const secrets = yield* states.secrets(state)
        expect(secrets.map(({ value }) => Redacted.value(value))).toContain(canary)
        const generated = yield* (yield* GeneratedSecrets).find({ id: capsuleId, workspace_id: workspaceId }, shape)
        expect(generated === undefined ? undefined : Redacted.value(generated)).toBe(there.generated)
        expect((yield* refusal(bytesOf(there.one)))[0]).toBe("state_lineage_known")

        // The Capsule stays disabled until a person types its name. Until then, the Capsule rejects every command, no matter
        // who sends it.
        const refusedRuns = Effect.forEach(
          [
            Effect.asVoid(capsuleCommands.Plan(capsuleId, { context })),
            Effect.asVoid(capsuleCommands.DestroyPlan(capsuleId, { context })),
            Effect.asVoid(capsuleCommands.DriftCheck(capsuleId, { context })),
            Effect.asVoid(capsuleCommands.Update(capsuleId, { context, status: "active" }))
          ],
          (request) => Effect.map(Effect.flip(request), ({ code, message }) => `${code} ${message}`)
        )
        for (const words of yield* refusedRuns)
          expect(words).toContain("failed_precondition The Capsule was imported from another installation")
        const wrong = yield* Effect.flip(
          capsuleCommands.ConfirmImport(capsuleId, { context, request: { confirm: "Moved" } })
        )
        expect(wrong.code).toBe("invalid_request")
        kills.at.set("import.confirming", processEnd)
        yield* Effect.exit(capsuleCommands.ConfirmImport(capsuleId, { context, request: { confirm: "moved" } }))
        expect((yield* capsules.read(capsuleId)).status).toBe("disabled")
        const confirmed = yield* capsuleCommands.ConfirmImport(capsuleId, { context, request: { confirm: "moved" } })
        expect(confirmed).toMatchObject({
          status: "pending",
          executionAuthorityEpoch: 2,
          import: { confirmedBy: context.actor.subject }
        })
        const twice = yield* Effect.flip(
          capsuleCommands.ConfirmImport(capsuleId, { context, request: { confirm: "moved" } })
        )
        expect(twice.code).toBe("failed_precondition")

        // The Capsule cannot be changed without a reviewed plan.
        for (const request of [
          Effect.asVoid(capsuleCommands.DestroyPlan(capsuleId, { context })),
          Effect.asVoid(capsuleCommands.DriftCheck(capsuleId, { context }))
        ]) {
          expect((yield* Effect.flip(request)).message).toContain("Plan it first")
        }
        const first = yield* replanned(capsuleId)
        expect(first.status).toBe("waiting_approval")
        expect(first.planSummary).toMatchObject({ add: 0, change: 0, replace: 0, destroy: 0 })
        expect(first.diagnostics?.[0]?.summary).toContain("the installation it comes from is not locked")
        expect((yield* applied(first)).status).toBe("succeeded")
        expect(yield* capsules.read(capsuleId)).toMatchObject({ status: "active", currentStateGeneration: 2 })
        expect((yield* replanned(capsuleId)).diagnostics ?? []).toEqual([])
        const events = yield* sql`SELECT action FROM audit_events
        WHERE action IN ('backup_upload.create', 'capsule.import', 'capsule.confirm_import') ORDER BY created_at, id`
        expect(events.map(({ action }) => action).toSorted()).toEqual([
          "backup_upload.create",
          "backup_upload.create",
          "capsule.confirm_import",
          "capsule.import"
        ])
      })
  )
})
