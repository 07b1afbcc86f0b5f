import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { StateUploadRow, StateUploads } from "../../../../actors/ledger/state/StateUploads.ts"
import { longestReadHere } from "../../../../runner/document/Documents.ts"
import { InstallPlanId, type StateUploadId } from "../../../../schema/records/Ids.ts"
import type { StateUpload } from "../../../../schema/records/StateUpload.ts"
import { suite } from "../../../support/Effect.ts"
import { demoModule, driven, freshKey, requestOf, settled } from "../../../support/Journey.ts"
import { longestParsedHere } from "../../../support/LongestParsed.ts"
import { killPoints, processEnd } from "../../../support/KillPoints.ts"
import { newOwner, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { uploaded, writtenState } from "../../support/OutsideState.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { withoutMember } from "../../../support/Dialect.ts"

setDefaultTimeout(60_000)

const kills = killPoints()
const tests = suite(testPlane({ runner: pureRunner(pureModules()) }).pipe(Layer.provide(kills.layer)))
afterAll(tests.dispose)

const text = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value))
const codeOf = (bytes: Uint8Array) => Effect.map(Effect.flip(uploaded(bytes)), ({ code }) => code)
const rowsOf = (id: StateUploadId) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => StateUploadRow.rows(sql)`SELECT * FROM state_uploads WHERE id = ${id}`)

describe("Uploaded states", () => {
  tests.live("svc rejects an uploaded state that cannot be adopted, and returns the reason", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const whole = writtenState({ lineage: "whole" })
      for (const unreadable of [
        text(""),
        text("not json"),
        whole.slice(0, -2),
        text({ version: 3, serial: 1, lineage: "old", modules: [] }),
        text({ version: 4, serial: 1, lineage: "" }),
        text({ version: 4, serial: -1, lineage: "negative" }),
        writtenState({ lineage: "l".repeat(300) }),
        writtenState({ lineage: "long-version", version: "1".repeat(100) })
      ]) {
        expect(yield* codeOf(unreadable)).toBe("state_unreadable")
      }
      const sealed = { serial: 1, lineage: "sealed", version: 4, encrypted_data: "AAAA", encryption_version: "v0" }
      expect(yield* codeOf(text(sealed))).toBe("state_encrypted")
      const newer = yield* Effect.flip(uploaded(writtenState({ lineage: "newer", version: "99.1.0" })))
      expect([newer.code, newer.message]).toEqual(["state_newer", expect.stringContaining("Version 99.1.0")])
      expect(yield* sql`SELECT id FROM state_uploads`).toEqual([])
      expect(yield* sql`SELECT id FROM audit_events WHERE action = 'state_upload.create'`).toEqual([])
    })
  )

  tests.live("an uploaded state longer than 1 MiB is never parsed on the request thread", () =>
    Effect.gen(function* () {
      const padded = `${JSON.stringify({ version: 4, serial: 1, lineage: "padded", resources: [] }).slice(0, -1)},"check_results":[${'"padding",'.repeat(200_000)}1]}`
      const { longest, value } = yield* longestParsedHere(uploaded(text(padded)))
      expect(value.resourceCount).toBe(0)
      expect(longest).toBeLessThanOrEqual(longestReadHere)
      const hostile = [
        "[".repeat(20_000_000),
        `{"version":4,"serial":1,"lineage":"deep","resources":${"[".repeat(20_000_000)}`,
        `{"version":4,"serial":1,"lineage":"wide","check_results":[${"[],".repeat(6_000_000)}1]}`
      ]
      for (const document of hostile) {
        const refused = yield* longestParsedHere(codeOf(text(document)))
        expect(refused.value).toBe("state_unreadable")
        expect(refused.longest).toBeLessThan(20)
      }
      yield* (yield* SqlClient.SqlClient)`DELETE FROM state_uploads WHERE id = ${value.id}`
    })
  )

  tests.live("svc rejects an uploaded state if another Capsule in the Workspace manages one of its resources", () =>
    Effect.gen(function* () {
      const { commit, context, workspaceId } = yield* TestPlane
      yield* commit("owner", { "main.tf": demoModule('resource "demo_note" "a" {}') })
      const provider = "registry.terraform.io/example/none"
      const note = { type: "demo_note", name: "a", id: "note-1", provider: "example.test/acme/demo" }
      const noId = {
        type: "random_password",
        name: "p",
        id: "none",
        provider: "registry.terraform.io/hashicorp/random"
      }
      const first = yield* uploaded(writtenState({ lineage: "first", resources: [note] }))
      const adopt = { uploadId: first.id, sha256: first.sha256 }
      const request = { ...(yield* requestOf("owner")), adopt }
      const plan = yield* driven(
        (yield* (yield* InstallPlans).create(context, workspaceId, request, freshKey())).value.id
      )
      if (plan.capsuleId === undefined) return yield* Effect.die(new Error(JSON.stringify(plan.diagnostics)))
      const { name } = yield* (yield* Capsules).read(plan.capsuleId)

      const second = (resources: Parameters<typeof writtenState>[0]["resources"] & {}) =>
        uploaded(writtenState({ lineage: `second-${resources.map(({ id }) => id)}`, resources }))
      const refused = yield* Effect.flip(second([{ ...note, name: "renamed" }]))
      expect([refused.code, refused.message]).toEqual([
        "state_resource_managed",
        expect.stringContaining(`demo_note.renamed (Capsule ${name})`)
      ])
      // Objects are different if their id, type, provider or Workspace differs. A match in one Workspace is not disclosed to
      // another.
      yield* second([{ ...note, id: "note-2" }])
      yield* second([{ ...note, type: "demo_other" }])
      yield* second([{ ...note, id: "note-1", provider }])
      yield* second([noId])
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT COUNT(*) AS n FROM state_uploads WHERE used_at IS NULL`).toEqual([{ n: 4 }])
      const lineage = yield* Effect.flip(uploaded(writtenState({ lineage: "first" })))
      expect(lineage.message).toContain(`by the Capsule ${name}`)
      yield* sql`DELETE FROM state_uploads WHERE used_at IS NULL`
    })
  )

  tests.live(
    "repeated requests store an uploaded state once, and nothing is stored if the process dies before the commit",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const bytes = writtenState({ lineage: "repeated" })
        const key = freshKey()
        kills.at.set("state_upload.storing", processEnd)
        yield* Effect.exit(uploaded(bytes, key))
        expect(yield* sql`SELECT id FROM state_uploads WHERE used_at IS NULL`).toEqual([])
        kills.at.set("state_upload.stored", processEnd)
        yield* Effect.exit(uploaded(bytes, key))
        const one = yield* uploaded(bytes, key)
        expect(yield* sql`SELECT id FROM state_uploads WHERE used_at IS NULL`).toEqual([{ id: one.id }])
        const other = yield* Effect.flip(uploaded(bytes, { ...key, requestDigest: "another" }))
        expect(other.code).toBe("idempotency_conflict")
        yield* sql`DELETE FROM state_uploads WHERE id = ${one.id}`
      })
  )

  tests.live("an unused upload is erased after an hour, and the number of uploads per Workspace is limited", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const uploads = yield* StateUploads
      const ids: Array<StateUploadId> = []
      for (let number = 0; number < 10; number++)
        ids.push((yield* uploaded(writtenState({ lineage: `l${number}` }))).id)
      const eleventh = yield* Effect.flip(uploaded(writtenState({ lineage: "eleventh" })))
      expect(eleventh.code).toBe("failed_precondition")
      const [waiting, held] = ids
      if (waiting === undefined || held === undefined) return yield* Effect.die("no uploads")
      const [row] = yield* rowsOf(held)
      expect(Date.parse(row?.expires_at ?? "") - Date.parse(row?.created_at ?? "")).toBe(3_600_000)
      const install = InstallPlanId.make("ipl_aaaaaaaaaaaaaaaaaaaaaaaa")
      const { workspaceId: elsewhere } = yield* newOwner("upload-elsewhere")
      const adopt = { uploadId: held, sha256: row?.sha256 ?? "" }
      expect((yield* Effect.flip(uploads.claim(elsewhere, adopt, install))).code).toBe("failed_precondition")
      yield* uploads.claim(workspaceId, adopt, install)
      const another = InstallPlanId.make("ipl_bbbbbbbbbbbbbbbbbbbbbbbb")
      expect((yield* Effect.flip(uploads.claim(workspaceId, adopt, another))).code).toBe("failed_precondition")
      yield* uploads.eraseUnused
      expect(yield* rowsOf(waiting)).toHaveLength(1)
      yield* sql`UPDATE state_uploads SET expires_at = '2020-01-01T00:00:00.000Z' WHERE used_at IS NULL`
      yield* uploads.eraseUnused
      expect(yield* sql`SELECT id FROM state_uploads WHERE used_at IS NULL`).toEqual([{ id: held }])
      // The install fails, and the next cleanup erases the upload, because the upload was more than an hour old when the
      // install failed.
      yield* uploads.release(install)
      expect((yield* Effect.flip(uploads.claim(workspaceId, adopt, another))).code).toBe("failed_precondition")
      yield* uploads.eraseUnused
      expect(yield* rowsOf(held)).toEqual([])
    })
  )

  tests.live(
    "an uploaded state is matched against an earlier check of the module, and never planned with an older tool",
    () =>
      Effect.gen(function* () {
        const { commit, context, url, workspaceId } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const sources = yield* Sources
        const installs = yield* InstallPlans
        yield* commit("checked", pureModule)
        const { source } = yield* sources.create(context, { workspaceId, name: "checked", url, defaultRef: "checked" })
        const sync = yield* settled((yield* sources.sync(context, source.id, {})).id)
        const { items } = yield* sources.snapshots(source.id, { limit: 1 })
        const [snapshot] = items
        if (snapshot === undefined) return yield* Effect.die(new Error(`no snapshot: ${sync.status}`))
        const { compatibilityReport, run } = yield* sources.checkCompatibility(context, source.id, {
          sourceSnapshotId: snapshot.id,
          modulePath: "."
        })
        const preflight = {
          sourceId: source.id,
          sourceSnapshotId: snapshot.id,
          compatibilityCheckRunId: run.id,
          compatibilityReportId: compatibilityReport.id
        }
        const install = Effect.fnUntraced(function* (name: string, upload: StateUpload) {
          const request = {
            ...(yield* requestOf("checked")),
            capsule: { name, environment: "test" },
            preflight,
            adopt: { uploadId: upload.id, sha256: upload.sha256 }
          }
          return yield* driven((yield* installs.create(context, workspaceId, request, freshKey())).value.id)
        })
        const it = { type: "terraform_data", name: "it", id: "1" }
        const stranger = yield* uploaded(
          writtenState({ lineage: "stranger", resources: [it, { ...it, name: "stranger" }] })
        )
        const refused = yield* install("refused", stranger)
        expect(refused.diagnostics.map(({ code }) => code)).toEqual(["state_address_undeclared"])
        const fitting = yield* install("fitting", yield* uploaded(writtenState({ lineage: "fits", resources: [it] })))
        expect([fitting.phase, fitting.diagnostics]).toEqual(["reviewable", []])

        // The Run's profile selects the tool, so its version is unknown when the state is uploaded.
        const newer = yield* uploaded(writtenState({ lineage: "newer", resources: [it] }))
        yield* sql`UPDATE state_uploads SET tool_version = '99.0.0' WHERE id = ${newer.id}`
        const blocked = yield* install("newer", newer)
        expect([blocked.phase, blocked.diagnostics.map(({ code }) => code)]).toEqual(["failed", ["state_newer"]])
        // The Capsule and its state remain, so the Capsule can be planned once a newer tool is available.
        if (blocked.capsuleId === undefined) return yield* Effect.die(new Error("no Capsule"))
        expect((yield* (yield* Capsules).read(blocked.capsuleId)).currentStateGeneration).toBe(1)

        // Simulates a report from an earlier release, which lists no addresses.
        yield* sql`UPDATE compatibility_reports SET module_scan = ${withoutMember(sql, "module_scan", "$.addresses")}`
        const outdated = yield* install("outdated", yield* uploaded(writtenState({ lineage: "outdated" })))
        expect(outdated.diagnostics.map(({ code }) => code)).toEqual(["state_check_outdated"])
        yield* sql`DELETE FROM state_uploads WHERE used_at IS NULL`
      })
  )
})
