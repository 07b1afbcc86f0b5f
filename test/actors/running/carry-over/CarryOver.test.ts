import { afterAll, afterEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ApprovalRules } from "../../../../actors/access/approval/ApprovalRules.ts"
import { ChangeApprovals } from "../../../../actors/access/approval/ChangeApprovals.ts"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { RevisionPlans } from "../../../../actors/commands/revision-plan/RevisionPlans.ts"
import { Members } from "../../../../actors/access/member/Members.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { CommandContext } from "../../../../schema/commands/Command.ts"
import { RevisionPlanCommands } from "../../../../schema/commands/RevisionPlanCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import type { CarryOver } from "../../../../schema/records/Approval.ts"
import type { CapsuleId, RunId } from "../../../../schema/records/Ids.ts"
import type { Run } from "../../../../schema/records/Run.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { active, freshKey, planned, replanned, settled, stepped } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { admin, ownerScope, ruled, standing, subjectOf } from "../../support/ApprovalSteps.ts"
import { cloned, mergeWays } from "../../support/MergedClone.ts"
import { approveChange, digestsOf, planLane, reasonsOf, speculated } from "../../support/ChangeSteps.ts"
import { createTrigger, dropTrigger, withMember } from "../../../support/Dialect.ts"

setDefaultTimeout(300_000)
const tests = suite(testPlane())
afterAll(tests.dispose)
const otherServer = suite(testPlane())
afterAll(otherServer.dispose)
afterEach(() => tests.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM approval_rules`)))

const moduleOf = (value: string, more = "") => `resource "terraform_data" "kept" {
  input = "${value}"
  ${more}
}
`

const rule = (carryOver: CarryOver) => ruled({ approvers: 1, planAuthorCounts: false, carryOver })

/**
 * Creates a Capsule and a branch whose two commits change it, and creates a speculative plan of the change. The module does
 * not include the files in `docs`.
 */
const opened = Effect.fnUntraced(function* (name: string, more = "") {
  const { capsule } = yield* active(name, { "main.tf": moduleOf("one", more), "docs/about.md": "About" })
  const clone = yield* cloned
  const { commit, git, write } = clone
  git("checkout", "-q", "-b", `${name}-change`, `origin/${name}`)
  write("main.tf", moduleOf("half", more))
  commit("Begin")
  write("main.tf", moduleOf("two", more))
  commit("Finish")
  git("push", "-q", "origin", `${name}-change`)
  return { capsule, change: yield* speculated(capsule.id, `${name}-change`), ...clone }
})

const isMissing = Bun.which("terraform") === null || Bun.which("git") === null

describe.skipIf(isMissing)("Change approvals", () => {
  for (const [way, merge] of mergeWays) {
    tests.live(
      `approvals of a change carry over to the plan of the lane after a ${way}, even if the lane has other new commits`,
      () =>
        Effect.gen(function* () {
          const { workspaceId, context } = yield* TestPlane
          const { capsule, change, commit, git, write } = yield* opened(way)
          const approver = yield* admin
          yield* rule("approval")
          const approval = yield* approveChange(approver, change)
          expect(approval).toMatchObject({
            runId: change.id,
            subject: subjectOf(approver),
            ...digestsOf(change),
            commit: change.resolvedCommit
          })
          // The lane gets commits outside the module before the change is merged.
          git("checkout", "-q", way)
          write("docs/about.md", "More about")
          commit("Write about it")
          merge(git, way)
          git("push", "-q", "origin", way)
          const plan = yield* planLane(capsule.id, capsule.sourceId)
          expect(plan.resolvedCommit).toBe(git("rev-parse", "HEAD"))
          expect(plan.differsFrom).toBeUndefined()
          expect(plan).toMatchObject({
            status: "succeeded",
            approvedBy: subjectOf(approver),
            changeDigest: change.changeDigest,
            carriedFrom: { runId: change.id, changeApprovalIds: [approval.id], ...digestsOf(change) }
          })
          expect((yield* standing(plan.id)).state).toBe("approved")
          const { items } = yield* (yield* Audit).list(
            workspaceId,
            subjectOf(context),
            { action: "run.carry_over" },
            { limit: 1 }
          )
          expect(items[0]).toMatchObject({
            actor: { kind: "service" },
            runId: plan.id,
            data: { changeDigest: change.changeDigest, planDigest: plan.planDigest, fromPlanDigest: change.planDigest }
          })
          const [listed] = yield* (yield* ChangeApprovals).list(change.id)
          expect(listed?.carriedToRunId).toBe(plan.id)
          const withdrawn = yield* Effect.flip(
            (yield* RunCommands).WithdrawChange(change.id, { context, changeApprovalId: approval.id })
          )
          expect(withdrawn.code).toBe("run_conflict")
          const { value } = yield* (yield* Runs).apply(context, plan.id, undefined)
          expect((yield* settled(value.id)).status).toBe("succeeded")
        })
    )
  }

  tests.live("approvals of a change let svc apply the plan of the lane if the rule allows it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { capsule, change, git } = yield* opened("applied")
      yield* rule("approval_and_apply")
      yield* approveChange(yield* admin, change)
      git("push", "-q", "origin", "applied-change:applied")
      const plan = yield* planLane(capsule.id, capsule.sourceId)
      expect(plan.carriedFrom?.applies).toBe(true)
      const applyId = yield* eventually(
        Effect.gen(function* () {
          const [row] = yield* sql<{ id: RunId }>`SELECT id FROM runs WHERE plan_run_id = ${plan.id}`
          return row?.id
        }),
        (id) => id !== undefined
      )
      if (applyId === undefined) return
      const apply = yield* settled(applyId)
      expect([apply.status, apply.trigger]).toEqual(["succeeded", "service"])
    })
  )

  tests.live(
    "approvals of a change do not carry over to a plan with a different change, and the review shows exactly the differing lines",
    () =>
      Effect.gen(function* () {
        const { capsule, change, commit, git, write } = yield* opened("other")
        yield* rule("approval")
        yield* approveChange(yield* admin, change)
        write("main.tf", moduleOf("three"))
        commit("Change it after the review")
        git("push", "-q", "origin", "other-change:other")
        const plan = yield* planLane(capsule.id, capsule.sourceId)
        expect(plan.status).toBe("waiting_approval")
        expect(plan.carriedFrom).toBeUndefined()
        expect(reasonsOf(plan)).toEqual(["change", "files"])
        expect(plan.differsFrom).toMatchObject({ runId: change.id, commit: change.resolvedCommit })
        expect(plan.differsFrom?.lines).toEqual([
          { side: "approved", text: 'terraform_data.kept input: "one" → "two"' },
          { side: "planned", text: 'terraform_data.kept input: "one" → "three"' }
        ])
      })
  )

  tests.live(
    "approvals of a change do not carry over to a plan even if the only difference is a provisioner command, which plans do not show",
    () =>
      Effect.gen(function* () {
        const provisioner = (command: string) => `provisioner "local-exec" { command = "${command}" }`
        const { capsule, change, commit, git, write } = yield* opened("provisioner", provisioner("true"))
        yield* rule("approval")
        yield* approveChange(yield* admin, change)
        write("main.tf", moduleOf("two", provisioner("echo other")))
        commit("Change only the command")
        git("push", "-q", "origin", "provisioner-change:provisioner")
        const plan = yield* planLane(capsule.id, capsule.sourceId)
        expect(plan.changeDigest).toBe(change.changeDigest ?? "")
        expect([plan.status, reasonsOf(plan)]).toEqual(["waiting_approval", ["files"]])
      })
  )

  tests.live(
    "approvals of a change do not carry over if the branch undid a change in its base, even if the lane is reset to the branch",
    () =>
      Effect.gen(function* () {
        const { capsule, commit, git, write } = yield* opened("stale")
        git("checkout", "-q", "stale")
        write("main.tf", moduleOf("one", "triggers_replace = 1"))
        commit("Change the base")
        git("push", "-q", "origin", "stale")
        yield* settled((yield* (yield* Sources).sync((yield* TestPlane).context, capsule.sourceId, {})).id)
        const change = yield* speculated(capsule.id, "stale-change")
        expect(change.base?.standing).toBe("stale")
        yield* rule("approval")
        yield* approveChange(yield* admin, change)
        git("push", "-q", "--force", "origin", "stale-change:stale")
        const plan = yield* planLane(capsule.id, capsule.sourceId)
        expect(plan.changeDigest).toBe(change.changeDigest ?? "")
        expect([plan.status, reasonsOf(plan)]).toEqual(["waiting_approval", ["stale"]])
      })
  )

  const changes: ReadonlyArray<
    readonly [
      name: string,
      /** The expected codes, separated by spaces. */
      codes: string,
      change: (world: {
        readonly approver: CommandContext
        readonly change: Run
        readonly capsuleId: CapsuleId
      }) => Effect.Effect<unknown, unknown, SqlClient.SqlClient | TestPlane | Members | ApprovalRules>
    ]
  > = [
    [
      "demoted",
      "approver",
      ({ approver }) =>
        Effect.gen(function* () {
          const { context, workspaceId } = yield* TestPlane
          const scope = { workspaceId, acting: { subject: subjectOf(context) } }
          yield* (yield* Members).update(context, scope, subjectOf(approver), { role: "member" })
        })
    ],
    [
      "suspended",
      "approver",
      ({ approver }) =>
        Effect.gen(function* () {
          const { context, workspaceId } = yield* TestPlane
          const scope = { workspaceId, acting: { subject: subjectOf(context) } }
          yield* (yield* Members).update(context, scope, subjectOf(approver), { status: "suspended" })
        })
    ],
    [
      "more-approvers",
      "rule",
      () =>
        Effect.gen(function* () {
          const { context } = yield* TestPlane
          const rules = yield* ApprovalRules
          const [found] = (yield* rules.list((yield* ownerScope).workspaceId, { limit: 1 })).items
          if (found === undefined) return yield* Effect.die("no rule")
          yield* rules.update(context, yield* ownerScope, found.id, { role: "owner" })
        })
    ],
    [
      "turned-off",
      "off",
      () => Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE approval_rules SET carry_over = 'off'`)
    ],
    ["without-rules", "off", () => Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM approval_rules`)],
    [
      "other-tool",
      "tool",
      ({ change }) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql`UPDATE runs SET evidence = ${withMember(sql, "evidence", "$.tool.version", "0.0.1")} WHERE id = ${change.id}`
        )
    ],
    [
      "other-lock",
      "provider_lock",
      ({ change }) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql`UPDATE runs SET evidence = ${withMember(sql, "evidence", "$.providerLockDigest", "sha256:0")} WHERE id = ${change.id}`
        )
    ],
    [
      "other-epoch",
      "authority",
      ({ change }) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE runs SET execution_authority_epoch = 99 WHERE id = ${change.id}`
        )
    ],
    [
      "other-state",
      "state",
      ({ change }) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE runs SET base_state_generation = 0 WHERE id = ${change.id}`
        )
    ],
    [
      "other-profile",
      "profile",
      ({ change }) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE runs SET profile_digest = 'sha256:0' WHERE id = ${change.id}`
        )
    ],
    [
      "no-basis",
      "deliveries",
      ({ change }) =>
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM change_bases WHERE run_id = ${change.id}`)
    ],
    [
      "other-config",
      "configuration",
      ({ change }) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE runs SET install_config_id = 'icfg_aaaaaaaaaaaaaaaaaaaaaaaa' WHERE id = ${change.id}`
        )
    ],
    [
      "other-pool",
      "profile",
      ({ change }) =>
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE runs SET pool = 'elsewhere' WHERE id = ${change.id}`)
    ],
    [
      "other-network",
      "profile",
      ({ change }) =>
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE runs SET network = NULL WHERE id = ${change.id}`)
    ],
    [
      "other-binding",
      "connection",
      ({ change }) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql`UPDATE runs SET evidence = ${withMember(sql, "evidence", "$.providerResolutions", [{ provider: "p", moduleLocalName: "p", status: "resolved_provider_connection", envNames: [] }])} WHERE id = ${change.id}`
        )
    ],
    [
      "earlier-ground",
      "uncertain",
      ({ change }) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql`UPDATE runs SET evidence = ${withMember(sql, "evidence", "$.diagnostics", [{ severity: "warning", summary: "s", code: "left_over_state" }])} WHERE id = ${change.id}`
        )
    ],
    [
      "removed-input",
      "inputs",
      ({ change }) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql`UPDATE change_bases SET consumed_outputs = '[{"dependencyId":"dep_aaaaaaaaaaaaaaaaaaaaaaaa","producerCapsuleId":"cap_aaaaaaaaaaaaaaaaaaaaaaaa"}]' WHERE run_id = ${change.id}`
        )
    ],
    [
      "agent-credentials",
      "agent_credentials",
      ({ change }) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE change_bases SET provided = '[{"name":"aws"}]' WHERE run_id = ${change.id}`
        )
    ],
    [
      "other-review",
      "change",
      ({ change }) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql`UPDATE runs SET plan_details = ${withMember(sql, "plan_details", "$.outputChanges", [{ name: "o", actions: ["create"], sensitive: false, after: 1 }])} WHERE id = ${change.id}`
        )
    ],
    [
      "late-approval",
      "files unknown",
      ({ change }) =>
        Effect.gen(function* () {
          // The approval arrives while svc settles the plan, after it has compared the files of all approved changes.
          const sql = yield* SqlClient.SqlClient
          yield* sql`UPDATE change_approvals SET withdrawn_at = created_at WHERE run_id = ${change.id}`
          yield* createTrigger(
            sql,
            `CREATE TRIGGER late_approval AFTER INSERT ON run_plans BEGIN
            UPDATE change_approvals SET withdrawn_at = NULL WHERE run_id = '${change.id}'; END`
          )
        })
    ],
    [
      "uncertain",
      "uncertain",
      ({ capsuleId, change }) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`INSERT INTO left_over_states (id, workspace_id, capsule_id, run_id, reason, digest, size_bytes, state,
            state_generation, execution_authority_epoch, created_at)
            SELECT 'lo_carriedoveruncertain0000', workspace_id, capsule_id, id, 'lineage_changed', 'd', 1, 'sealed', 1, 1, created_at
            FROM runs WHERE id = ${change.id} AND capsule_id = ${capsuleId}`
        })
    ]
  ]
  // The changes are split between two tests, because each change needs a plan and a single test would take too long.
  const halves = [changes.slice(0, 9), changes.slice(9)]
  for (const [half, some] of halves.entries()) {
    const branch = `table-${half}`
    tests.live(
      `approvals of a change do not carry over in each of these cases: ${some.map(([name]) => name).join(", ")}`,
      () =>
        Effect.gen(function* () {
          const { capsule, change, git } = yield* opened(branch)
          git("push", "-q", "origin", `${branch}-change:${branch}`)
          yield* settled((yield* (yield* Sources).sync((yield* TestPlane).context, capsule.sourceId, {})).id)
          const sql = yield* SqlClient.SqlClient
          const [before] = yield* sql`SELECT * FROM runs WHERE id = ${change.id}`
          const bases = yield* sql`SELECT * FROM change_bases WHERE run_id = ${change.id}`
          for (const [name, code, alter] of some) {
            const approver = yield* admin
            yield* rule("approval")
            yield* approveChange(approver, change)
            yield* alter({ approver, change, capsuleId: capsule.id })
            const plan = yield* replanned(capsule.id)
            expect([name, plan.status, plan.carriedFrom]).toEqual([name, "waiting_approval", undefined])
            expect([name, reasonsOf(plan)]).toEqual([name, expect.arrayContaining(code.split(" "))])
            if (name === "late-approval") yield* dropTrigger(sql, "late_approval")
            yield* sql`DELETE FROM approval_rules`
            yield* sql`DELETE FROM change_approvals`
            yield* sql`DELETE FROM left_over_states`
            yield* sql`DELETE FROM change_bases`
            yield* sql`UPDATE runs SET ${sql.update(before ?? {}, ["id"])} WHERE id = ${change.id}`
            for (const basis of bases) yield* sql`INSERT INTO change_bases ${sql.insert(basis)}`
          }
          // The control case: the approval is carried over if nothing has changed.
          yield* rule("approval")
          yield* approveChange(yield* admin, change)
          expect((yield* replanned(capsule.id)).carriedFrom?.runId).toBe(change.id)
        })
    )
  }

  tests.live("approvals of a change count until they are withdrawn or a plan that received them is discarded", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const { capsule, change, git } = yield* opened("withdrawn")
      git("push", "-q", "origin", "withdrawn-change:withdrawn")
      yield* rule("approval")
      const approver = yield* admin
      const commands = yield* RunCommands
      const approval = yield* approveChange(approver, change)
      // Repeating the approval changes nothing.
      expect((yield* approveChange(approver, change)).id).toBe(approval.id)
      const gone = yield* commands.WithdrawChange(change.id, { context, changeApprovalId: approval.id })
      expect([gone.withdrawnBy, typeof gone.withdrawnAt]).toEqual([subjectOf(context), "string"])
      const waiting = yield* planLane(capsule.id, capsule.sourceId)
      expect([waiting.status, waiting.differsFrom]).toEqual(["waiting_approval", undefined])
      yield* approveChange(approver, change)
      const carried = yield* replanned(capsule.id)
      expect(carried.carriedFrom?.runId).toBe(change.id)
      // A newer plan of the same change inherits the approval of the plan that it supersedes.
      const again = yield* replanned(capsule.id)
      expect(again.carriedFrom?.runId).toBe(change.id)
      // Somebody discards the plan, so its approval is not carried over to later plans.
      yield* commands.Cancel(again.id, { context })
      const after = yield* replanned(capsule.id)
      expect([after.status, after.carriedFrom, after.differsFrom]).toEqual(["waiting_approval", undefined, undefined])
    })
  )

  tests.live("approvals of a change do not approve plans of the same commit that are not of the lane", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const { capsule, change } = yield* opened("elsewhere")
      yield* rule("approval")
      yield* approveChange(yield* admin, change)
      const ofRef = yield* (yield* RevisionPlans).create(context, capsule.id, { ref: "elsewhere-change" }, freshKey())
      const { planRunId } = yield* stepped((yield* RevisionPlanCommands).Reconcile(ofRef.value.id, { context }))
      if (planRunId === undefined) return yield* Effect.die("no plan")
      const plan = yield* settled(planRunId)
      expect([plan.resolvedCommit, plan.changeDigest]).toEqual([change.resolvedCommit, change.changeDigest])
      expect([plan.status, plan.carriedFrom, plan.differsFrom]).toEqual(["waiting_approval", undefined, undefined])
    })
  )

  tests.live("two people have to approve a change if the rule requires two, and each person counts once", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const { capsule, change, git } = yield* opened("two")
      git("push", "-q", "origin", "two-change:two")
      yield* ruled({ approvers: 2, planAuthorCounts: false, carryOver: "approval" })
      const [ann, bob] = [yield* admin, yield* admin]
      // The person who started the speculative plan counts as its author.
      const refused = yield* Effect.flip(approveChange(context, change))
      expect([refused.code, refused.message]).toEqual([
        "permission_denied",
        "This approval would not count: the author of the plan does not count."
      ])
      yield* approveChange(ann, change)
      const short = yield* planLane(capsule.id, capsule.sourceId)
      expect([short.status, reasonsOf(short)]).toEqual(["waiting_approval", ["approver"]])
      const both = yield* Effect.all(
        [approveChange(ann, change), approveChange(bob, change), approveChange(bob, change)],
        {
          concurrency: "unbounded"
        }
      )
      expect(new Set(both.map(({ id }) => id)).size).toBe(2)
      const plan = yield* replanned(capsule.id)
      expect(plan.carriedFrom?.changeApprovalIds).toHaveLength(2)
      expect((yield* standing(plan.id)).approvals.map(({ approver }) => approver).toSorted()).toEqual(
        [subjectOf(ann), subjectOf(bob)].toSorted()
      )
    })
  )

  tests.live(
    "svc rejects an approval of a change if its digests do not match the change, or if the plan is not speculative",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const { capsule, change } = yield* opened("refused")
        const commands = yield* RunCommands
        const digests = digestsOf(change)
        const refusals = yield* Effect.all([
          Effect.flip(commands.ApproveChange(change.id, { context, ...digests, changeDigest: "hmac-sha256:other" })),
          Effect.flip(commands.ApproveChange(change.id, { context, ...digests, planDigest: "sha256:other" }))
        ])
        expect(refusals.map(({ code }) => code)).toEqual(["guard_conflict", "guard_conflict"])
        const plan = yield* replanned(capsule.id)
        const other = yield* Effect.flip(commands.ApproveChange(plan.id, { context, ...digestsOf(plan) }))
        expect([other.code, other.message]).toEqual([
          "failed_precondition",
          expect.stringContaining("POST /api/v1/runs/{runId}/approve")
        ])
        expect(yield* (yield* ChangeApprovals).list(change.id)).toEqual([])
      })
  )

  tests.live(
    "if a rule excludes commit authors, an approval of a change by the author of any commit on the branch does not count",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { change } = yield* opened("authors")
        const [basis] = yield* sql<{ commit_authors: string | null }>`SELECT commit_authors FROM change_bases
        WHERE run_id = ${change.id}`
        const known: unknown = basis?.commit_authors == null ? undefined : JSON.parse(basis.commit_authors)
        const author = yield* admin
        yield* ruled({ approvers: 1, commitAuthorCounts: false, carryOver: "approval" })
        // If the branch's history is unknown, no approval counts.
        yield* sql`UPDATE change_bases SET commit_authors = NULL WHERE run_id = ${change.id}`
        const unknown = yield* Effect.flip(approveChange(author, change))
        expect(unknown.message).toContain("the authors of the commit are unknown")
        const [user] = yield* sql<{ email: string }>`SELECT email FROM users WHERE subject = ${subjectOf(author)}`
        const addresses = JSON.stringify(["mina@example.test", user?.email])
        yield* sql`UPDATE change_bases SET commit_authors = ${addresses} WHERE run_id = ${change.id}`
        expect((yield* Effect.flip(approveChange(author, change))).message).toContain(
          "an author of the commit does not count"
        )
        expect((yield* approveChange(yield* admin, change)).runId).toBe(change.id)
        expect(known).toEqual(["mina@example.test"])
      })
  )

  tests.live("the digests in approvals of a change cannot be compared with digests of another Capsule or server", () =>
    Effect.gen(function* () {
      const files = {
        "main.tf": `variable "secret" {
          default   = "canary-4711"
          sensitive = true
        }
        resource "terraform_data" "kept" { input = var.secret }`
      }
      const own = [yield* planned("canary-a", files), yield* planned("canary-b", files)]
      const other = yield* Effect.promise(() => otherServer.runPromise(planned("canary-a", files)))
      const digests = [...own, other].map(({ plan }) => plan.changeDigest)
      expect(digests.every((digest) => /^hmac-sha256:[\w-]{43}$/.test(digest ?? ""))).toBe(true)
      expect(new Set(digests).size).toBe(3)
      const [again] = yield* Effect.forEach(own.slice(0, 1), ({ capsuleId }) => replanned(capsuleId))
      expect(again?.changeDigest).toBe(digests[0])
    })
  )
})
