import { rm } from "node:fs/promises"
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Clock, Effect, Exit, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleExports } from "../../../../actors/commands/capsule-export/CapsuleExports.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, freshKey, planned, replanned, settled } from "../../../support/Journey.ts"
import { killPoints, processEnd } from "../../../support/KillPoints.ts"
import { newOwner, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { currentState } from "../../support/OrphanedStateList.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { exporting, granted, linkOf, unpacked } from "../../support/UnpackedExport.ts"
import { insertConflictingRun, removeConflictingRun } from "../../support/ConflictingRun.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(60_000)

const kills = killPoints()
const tests = suite(testPlane({ runner: pureRunner(pureModules()) }).pipe(Layer.provide(kills.layer)))
afterAll(tests.dispose)

const codeOf = <A, E extends { readonly code: string }, R>(refused: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(refused), ({ code }) => code)

const downloaded = Effect.fnUntraced(function* (capsuleId: CapsuleId, link: string, session?: string) {
  return yield* (yield* CapsuleExports).download(yield* exporting(capsuleId, session), link)
})

/** Returns the audit events of the Capsule's exports, oldest first. */
const recorded = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ readonly action: string; readonly data: string }>`SELECT action, data FROM audit_events
    WHERE capsule_id = ${capsuleId} AND action LIKE 'capsule.export%' ORDER BY created_at, id`
})

/** Moves the clock forward, so that the next request has a later time. */
const later = (millis: number) =>
  Effect.updateService(Clock.Clock, (clock) => ({
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + millis,
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + millis),
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
    currentTimeNanos: clock.currentTimeNanos,
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }))

describe("Capsule exports", () => {
  tests.live(
    "svc records an export before it responds to the request, and records each download before it sends the first byte",
    () =>
      Effect.gen(function* () {
        const { capsule } = yield* active("recorded", pureModule)
        const state = yield* currentState(capsule.id)
        const answer = yield* granted(capsule.id)
        const link = linkOf(answer)
        expect((yield* recorded(capsule.id)).map(({ action }) => action)).toEqual(["capsule.export"])
        const archive = yield* downloaded(capsule.id, link)
        const [first, second] = yield* recorded(capsule.id)
        expect(second?.action).toBe("capsule.export_download")
        expect(JSON.parse(first?.data ?? "")).toEqual({
          stateVersionId: state.id,
          generation: 1,
          digest: state.digest,
          resolvedCommit: answer.resolvedCommit
        })
        // The audit events contain only the link's identifier, so nobody can use the database contents to download the
        // export.
        expect(`${first?.data}${second?.data}`).not.toContain(link.slice(-20))
        expect(yield* Stream.runCount(archive.bytes)).toBeGreaterThan(0)
        expect(yield* codeOf(downloaded(capsule.id, link))).toBe("failed_precondition")
        expect(yield* recorded(capsule.id)).toHaveLength(2)
      })
  )

  tests.live("an export requires the Capsule's exact name", () =>
    Effect.gen(function* () {
      const { capsule } = yield* active("typed", pureModule)
      const exports = yield* CapsuleExports
      for (const confirm of ["", "Typed", "typed ", "type"])
        expect(yield* codeOf(exports.grant(yield* exporting(capsule.id), { confirm }))).toBe("invalid_request")
      expect(yield* recorded(capsule.id)).toEqual([])
    })
  )

  tests.live(
    "svc rejects an export that is requested from another Workspace, before the first apply or after a destroy",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const exports = yield* CapsuleExports
        const capsules = yield* CapsuleCommands
        const { capsuleId } = yield* planned("never-applied", pureModule)
        expect(yield* codeOf(granted(capsuleId))).toBe("failed_precondition")
        const { capsule } = yield* active("destroyed", pureModule)
        const elsewhere = yield* newOwner("elsewhere")
        const asked = { ...(yield* exporting(capsule.id)), ...elsewhere }
        expect(yield* codeOf(exports.grant(asked, { confirm: "destroyed" }))).toBe("not_found")
        const destroy = yield* settled((yield* capsules.DestroyPlan(capsule.id, { context })).value.id)
        expect((yield* applied(destroy)).status).toBe("succeeded")
        expect(yield* codeOf(granted(capsule.id))).toBe("failed_precondition")
      })
  )

  tests.live(
    "svc rejects an export while a Run may change the Capsule, and its link becomes invalid when the state changes",
    () =>
      Effect.gen(function* () {
        const { capsule } = yield* active("moving", pureModule)
        const link = linkOf(yield* granted(capsule.id))
        yield* insertConflictingRun(capsule.id, "apply")
        expect(yield* codeOf(granted(capsule.id))).toBe("run_conflict")
        expect(yield* codeOf(downloaded(capsule.id, link))).toBe("run_conflict")
        yield* removeConflictingRun
        // A plan that waits for approval changes nothing, so the Capsule can be exported.
        const plan = yield* replanned(capsule.id)
        yield* downloaded(capsule.id, linkOf(yield* granted(capsule.id)))
        expect((yield* applied(plan)).status).toBe("succeeded")
        expect(yield* codeOf(downloaded(capsule.id, link))).toBe("failed_precondition")
        yield* downloaded(capsule.id, linkOf(yield* granted(capsule.id)))
      })
  )

  tests.live("an export link works only once, for only one Capsule and session, and only for ten minutes", () =>
    Effect.gen(function* () {
      const { capsule } = yield* active("bound", pureModule)
      const { capsule: other } = yield* active("bound-other", pureModule)
      const answer = yield* granted(capsule.id)
      const link = linkOf(answer)
      expect(Date.parse(answer.expiresAt) - (yield* Clock.currentTimeMillis)).toBeLessThanOrEqual(600_000)
      expect(yield* codeOf(downloaded(capsule.id, link, "ses_another"))).toBe("not_found")
      expect(yield* codeOf(downloaded(other.id, link))).toBe("not_found")
      const [, ...rest] = link.split(".")
      for (const forged of [["99999999999999", ...rest].join("."), `${link}x`, link.slice(0, -1), "none", "a.b.c"])
        expect(yield* codeOf(downloaded(capsule.id, forged))).toBe("not_found")
      expect(yield* codeOf(downloaded(capsule.id, link).pipe(later(600_000)))).toBe("failed_precondition")
      yield* downloaded(capsule.id, link).pipe(later(590_000))
      expect(yield* codeOf(downloaded(capsule.id, link).pipe(later(590_000)))).toBe("failed_precondition")
      // Only one of two concurrent downloads succeeds.
      const twice = linkOf(yield* granted(capsule.id))
      const both = yield* Effect.all(
        [1, 2].map(() => Effect.exit(downloaded(capsule.id, twice))),
        { concurrency: 2 }
      )
      expect(both.filter(Exit.isSuccess)).toHaveLength(1)
      // The test sorts the events, because they are listed by timestamp and one timestamp is ten minutes ahead.
      expect((yield* recorded(capsule.id)).map(({ action }) => action).toSorted()).toEqual([
        "capsule.export",
        "capsule.export",
        "capsule.export_download",
        "capsule.export_download"
      ])
    })
  )

  tests.live("an export contains the inputs of the applied state, even when a waiting plan has different inputs", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const capsules = yield* Capsules
      const capsuleCommands = yield* CapsuleCommands
      const { capsule } = yield* active("inputs", pureModule, { variables: { a: "applied" } })
      const read = (from: { readonly read: (name: string) => Effect.Effect<string, unknown> }) =>
        Effect.map(from.read("module/terraform.tfvars.json"), (text): unknown => JSON.parse(text))
      const { authorityGuard } = (yield* capsules.read(capsule.id)).installConfigReAdoption
      const { value } = yield* capsuleCommands.ConfigurationPlan(capsule.id, {
        context,
        request: { variablePatch: { set: { a: "planned" } }, expected: { authorityGuard } },
        idempotency: freshKey()
      })
      const plan = yield* settled(value.planRunId)
      expect(yield* read(yield* unpacked(capsule.id))).toEqual({ a: "applied" })
      expect((yield* applied(plan)).status).toBe("succeeded")
      expect(yield* read(yield* unpacked(capsule.id))).toEqual({ a: "planned" })
    })
  )

  tests.live("an export killed midway leaves no trace, or only the record of a link that nobody received", () =>
    Effect.gen(function* () {
      const { capsule } = yield* active("killed", pureModule)
      kills.at.set("export.granting", processEnd)
      yield* Effect.exit(granted(capsule.id))
      expect(yield* recorded(capsule.id)).toEqual([])
      kills.at.set("export.granted", processEnd)
      yield* Effect.exit(granted(capsule.id))
      expect(yield* recorded(capsule.id)).toHaveLength(1)
      const link = linkOf(yield* granted(capsule.id))
      kills.at.set("export.sending", processEnd)
      yield* Effect.exit(downloaded(capsule.id, link))
      expect((yield* recorded(capsule.id)).map(({ action }) => action)).toEqual([
        "capsule.export",
        "capsule.export",
        "capsule.export_download"
      ])
      // svc cannot determine how much of the download arrived, so the link cannot be used again.
      expect(yield* codeOf(downloaded(capsule.id, link))).toBe("failed_precondition")
      yield* downloaded(capsule.id, linkOf(yield* granted(capsule.id)))
    })
  )

  tests.live("an export fetches a commit that is no longer stored, or reports why it cannot be fetched", () =>
    Effect.gen(function* () {
      const { dataDir, moveBranch } = yield* TestPlane
      const { capsule } = yield* active("healed", pureModule)
      const lost = Effect.promise(() => rm(`${dataDir}/snapshots`, { recursive: true }))
      yield* lost
      const taken = yield* unpacked(capsule.id)
      expect(taken.files).toEqual(["README.md", "module/main.tf", "module/terraform.tfstate"])
      const link = linkOf(yield* granted(capsule.id))
      const unused = linkOf(yield* granted(capsule.id))
      yield* lost
      yield* Stream.runDrain((yield* downloaded(capsule.id, link)).bytes)
      yield* lost
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE source_snapshots SET url = 'https://gone.invalid/repository.git' WHERE source_id = ${capsule.sourceId}`
      yield* moveBranch("healed", undefined)
      const refused = yield* Effect.flip(granted(capsule.id))
      expect([refused.code, refused.message.includes("cannot be fetched again")]).toEqual(["failed_precondition", true])
      expect(yield* codeOf(downloaded(capsule.id, unused))).toBe("failed_precondition")
    })
  )
})
