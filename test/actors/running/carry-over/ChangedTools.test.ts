import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Run } from "../../../../schema/records/Run.ts"
import { suite } from "../../../support/Effect.ts"
import { active, bound, demoConnection, note, replanned } from "../../../support/Journey.ts"
import { plainTerraform } from "../../../support/PlainTerraform.ts"
import { demo, TestPlane } from "../../../support/TestPlane.ts"
import { admin, ruled } from "../../support/ApprovalSteps.ts"
import { approveChange, planLane, reasonsOf, speculated } from "../../support/ChangeSteps.ts"
import { Operator, operatorPlaneWith } from "../../support/OperatorPlane.ts"

setDefaultTimeout(300_000)

const folder = mkdtempSync(join(tmpdir(), "svc-tool-"))
const tool = join(folder, "terraform")
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Installs the tool, which reports the patch version that follows its own by `later`. */
const installTool = (later: number) => {
  writeFileSync(
    tool,
    `#!/bin/sh
case "$1" in
  version) ${plainTerraform} "$@" | sed -E 's/([0-9]+\\.[0-9]+\\.)[0-9]+/\\1${90 + later}/' ;;
  *) exec ${plainTerraform} "$@" ;;
esac
`
  )
  chmodSync(tool, 0o755)
}
installTool(0)

const tests = suite(operatorPlaneWith({ settings: { tool } }))
afterAll(tests.dispose)
afterEach(() => tests.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM approval_rules`)))

const plain = (text: string) => ({ "main.tf": `resource "terraform_data" "kept" { input = "${text}" }\n` })

/** A module whose provider may have any version. The lock file chooses the version. */
const locked = (name: string, version: string) => ({
  "main.tf": `
    terraform {
      required_providers {
        demo = { source = "${demo}" }
      }
    }
    ${note(name)}`,
  ".terraform.lock.hcl": `provider "${demo}" {\n  version = "${version}"\n}\n`
})

const approved = Effect.fnUntraced(function* (change: Run) {
  yield* ruled({ approvers: 1, planAuthorCounts: false, carryOver: "approval" })
  yield* approveChange(yield* admin, change)
})

describe.skipIf(Bun.which("terraform") === null)("An approved change under another tool", () => {
  tests.live("an approved change needs another approval if the lane's lock file chooses another provider version", () =>
    Effect.gen(function* () {
      const { commit, moveBranch } = yield* TestPlane
      const connection = yield* demoConnection("a token")
      const { capsule } = yield* active("locked", locked("one", "1.0.0"), {
        options: { providerBindings: [bound(connection.id)] }
      })
      yield* moveBranch("locked-change", capsule.adoptedSourceRevision?.resolvedCommit)
      const head = yield* commit("locked-change", locked("two", "1.0.0"))
      const change = yield* speculated(capsule.id, "locked-change")
      yield* approved(change)
      yield* moveBranch("locked", head)
      const carried = yield* planLane(capsule.id, capsule.sourceId)
      expect(carried.carriedFrom?.runId).toBe(change.id)
      yield* commit("locked", locked("two", "1.1.0"))
      const plan = yield* planLane(capsule.id, capsule.sourceId)
      expect(plan.providerLockDigest).not.toBe(change.providerLockDigest)
      expect([plan.status, plan.carriedFrom]).toEqual(["waiting_approval", undefined])
      expect(reasonsOf(plan)).toEqual(["files", "provider_lock"])
    })
  )

  tests.live("an approved change needs another approval if another version of the tool made the plan", () =>
    Effect.gen(function* () {
      const { commit, moveBranch } = yield* TestPlane
      const { capsule } = yield* active("upgraded", plain("one"))
      yield* moveBranch("upgraded-change", capsule.adoptedSourceRevision?.resolvedCommit)
      const head = yield* commit("upgraded-change", plain("two"))
      const change = yield* speculated(capsule.id, "upgraded-change")
      yield* approved(change)
      yield* moveBranch("upgraded", head)
      expect((yield* planLane(capsule.id, capsule.sourceId)).carriedFrom?.runId).toBe(change.id)
      installTool(1)
      const plan = yield* replanned(capsule.id)
      expect([change.tool?.version, plan.tool?.version]).toEqual([
        expect.stringMatching(/\.90$/),
        expect.stringMatching(/\.91$/)
      ])
      expect(plan.changeDigest).toBe(change.changeDigest ?? "")
      expect([plan.status, plan.carriedFrom, reasonsOf(plan)]).toEqual(["waiting_approval", undefined, ["tool"]])
    })
  )

  tests.live("an approved change needs another approval if the operator has changed the execution profile", () =>
    Effect.gen(function* () {
      const { commit, moveBranch } = yield* TestPlane
      const { gitOrigin, set } = yield* Operator
      const policy = (memory: string) =>
        set({ profiles: { small: { limits: { memory } } }, baseConfigs: [{ origin: gitOrigin, profile: "small" }] })
      yield* policy("3GiB")
      const { capsule } = yield* active("profiled", plain("one"))
      yield* moveBranch("profiled-change", capsule.adoptedSourceRevision?.resolvedCommit)
      const head = yield* commit("profiled-change", plain("two"))
      const change = yield* speculated(capsule.id, "profiled-change")
      yield* approved(change)
      yield* moveBranch("profiled", head)
      expect((yield* planLane(capsule.id, capsule.sourceId)).carriedFrom?.runId).toBe(change.id)
      yield* policy("2GiB")
      const plan = yield* replanned(capsule.id)
      expect(plan.changeDigest).toBe(change.changeDigest ?? "")
      expect([plan.status, plan.carriedFrom, reasonsOf(plan)]).toEqual(["waiting_approval", undefined, ["profile"]])
    })
  )
})
