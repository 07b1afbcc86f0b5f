import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { RevisionPlans } from "../../../../actors/commands/revision-plan/RevisionPlans.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import type { CommandContext } from "../../../../schema/commands/Command.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, freshKey, requestOf, settled, stepped } from "../../../support/Journey.ts"
import { killPoints } from "../../../support/KillPoints.ts"
import { newMember, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { InstallPlanCommands } from "../../../../schema/commands/InstallPlanCommands.ts"
import { RevisionPlanCommands } from "../../../../schema/commands/RevisionPlanCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"

setDefaultTimeout(120_000)

const points = killPoints()
const tests = suite(testPlane().pipe(Layer.provideMerge(points.layer)))
afterAll(tests.dispose)
beforeEach(() => points.at.clear())

const moduleOf = (more = "") => ({
  "main.tf": `
    variable "key" {
      type      = string
      sensitive = true
    }
    resource "terraform_data" "a" { input = length(var.key) }
    ${more}`
})
/** Transforms the private input so that redaction cannot recognise the result. */
const leaking = moduleOf('output "leak" { value = [for c in split("", nonsensitive(var.key)) : "${c}-"] }')
const variables = { key: "reviewed-ref-canary" }

const person = (role: "admin" | "member") =>
  Effect.flatMap(TestPlane, ({ context, workspaceId }) => newMember(workspaceId, context, role))

const written = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(sql`SELECT (SELECT COUNT(*) FROM runs) AS runs,
    (SELECT COUNT(*) FROM revision_plans) AS revisions, (SELECT COUNT(*) FROM install_plans) AS installs,
    (SELECT COUNT(*) FROM install_configs) AS configs, (SELECT COUNT(*) FROM audit_events) AS events`)
  return rows[0]
})

/** Checks that svc rejects the request because of its ref, and writes nothing. */
const refused = Effect.fnUntraced(function* <A, R>(
  request: Effect.Effect<A, { readonly code: string; readonly message: string }, R>,
  ...parts: ReadonlyArray<string>
) {
  const before = yield* written
  const { code, message } = yield* Effect.flip(request)
  expect(code).toBe("permission_denied")
  for (const part of [...parts, "reviewedRefs"]) expect(message).toContain(part)
  expect(yield* written).toEqual(before)
})

const revised = Effect.fnUntraced(function* (by: CommandContext, capsuleId: CapsuleId, ref: string) {
  const revisions = yield* RevisionPlans
  const revisionPlanCommands = yield* RevisionPlanCommands
  const { value } = yield* revisions.create(by, capsuleId, { ref }, freshKey())
  const plan = yield* stepped(revisionPlanCommands.Reconcile(value.id, { context: by }))
  return { plan, run: plan.planRunId === undefined ? undefined : yield* settled(plan.planRunId) }
})

const openings = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { context, workspaceId } = yield* TestPlane
  const { items } = yield* (yield* Audit).list(
    workspaceId,
    context.actor.subject ?? "",
    { action: "run.open_for_ref", capsuleId },
    { limit: 10 }
  )
  return items
})

const reconfigured = Effect.fnUntraced(function* (by: CommandContext, capsuleId: CapsuleId, key: string) {
  const capsules = yield* Capsules
  const capsuleCommands = yield* CapsuleCommands
  const { authorityGuard } = (yield* capsules.read(capsuleId)).installConfigReAdoption
  const request = { expected: { authorityGuard }, variablePatch: { set: { key } } }
  return yield* capsuleCommands.ConfigurationPlan(capsuleId, { context: by, request, idempotency: freshKey() })
})

describe.skipIf(Bun.which("terraform") === null)("Reviewed refs", () => {
  tests.live(
    "if a member requests private inputs for a pull request's head or for a commit, svc rejects the request and writes nothing",
    () =>
      Effect.gen(function* () {
        const { commit } = yield* TestPlane
        const member = yield* person("member")
        const { capsule, plan } = yield* active("reviewed", moduleOf(), { variables })
        const stolen = yield* commit("stolen", leaking)
        const revisions = yield* RevisionPlans
        for (const ref of ["stolen", "refs/pull/9/head", stolen]) {
          yield* refused(
            revisions.create(member, capsule.id, { ref }, freshKey()),
            "private inputs and the state",
            "(reviewed)"
          )
        }
        // A commit of the lane counts as reviewed, whichever ref the request specifies.
        const same = yield* revised(member, capsule.id, plan.resolvedCommit ?? "")
        expect(same.plan.phase).toBe("reviewable")
        expect(same.run?.openedForRef).toBeUndefined()
        const tracked = yield* settled((yield* (yield* CapsuleCommands).Plan(capsule.id, { context: member })).value.id)
        expect([tracked.status, tracked.openedForRef]).toEqual(["waiting_approval", undefined])
      })
  )

  tests.live(
    "an admin in person can open private inputs to an unreviewed ref, and the history records the ref and the admin",
    () =>
      Effect.gen(function* () {
        const { commit } = yield* TestPlane
        const admin = yield* person("admin")
        const { capsule } = yield* active("opened", moduleOf(), { variables })
        const head = yield* commit("opened-topic", leaking)
        const { plan, run } = yield* revised(admin, capsule.id, "opened-topic")
        expect(plan.phase).toBe("reviewable")
        const opened = { ref: "opened-topic", opened: ["inputs", "state"], basis: "other_ref" }
        expect(run?.openedForRef).toEqual({ ...opened, openedBy: admin.actor.subject } as never)
        const [event] = yield* openings(capsule.id)
        expect(event).toMatchObject({ actor: { subject: admin.actor.subject }, runId: run?.id })
        expect(event?.data).toMatchObject({ ref: "opened-topic", resolvedCommit: head })
        // A member may apply a reviewed and approved plan; the apply adopts the lane.
        if (run === undefined) return yield* Effect.die("no plan")
        expect((yield* applied(run)).status).toBe("succeeded")
        const member = yield* person("member")
        expect((yield* (yield* CapsuleCommands).Plan(capsule.id, { context: member })).value.status).toBe("queued")
      })
  )

  tests.live(
    "only owners and admins can open private inputs to a ref of a Source, and a member may then start a plan",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const member = yield* person("member")
        const { capsule } = yield* active("allowed", moduleOf(), { variables })
        yield* commit("allowed-topic", leaking)
        const sourceCommands = yield* SourceCommands
        const change = { reviewedRefs: ["allowed-topic"] }
        yield* refused(sourceCommands.Update(capsule.sourceId, { context: member, request: change }))
        const source = yield* sourceCommands.Update(capsule.sourceId, { context, request: change })
        expect(source.reviewedRefs).toEqual(["allowed-topic"])
        const { run } = yield* revised(member, capsule.id, "allowed-topic")
        expect(run?.openedForRef).toMatchObject({ basis: "rule", openedBy: member.actor.subject })

        // svc evaluates the rule again when the Run starts.
        const services = yield* Effect.context<SqlClient.SqlClient>()
        const sql = yield* SqlClient.SqlClient
        points.at.set(
          "plan.run.queued",
          Effect.asVoid(Effect.orDie(sql`UPDATE sources SET reviewed_refs = '[]' WHERE id = ${capsule.sourceId}`)).pipe(
            Effect.provideContext(services)
          )
        )
        const late = yield* revised(member, capsule.id, "allowed-topic")
        expect(late.plan.phase).toBe("failed")
        expect(JSON.stringify(late.plan.diagnostics)).toContain("reviewedRefs")
      })
  )

  tests.live("private inputs stay unavailable if the person loses the role while the plan is queued", () =>
    Effect.gen(function* () {
      const { commit } = yield* TestPlane
      const admin = yield* person("admin")
      const { capsule } = yield* active("demoted", moduleOf(), { variables })
      yield* commit("demoted-topic", leaking)
      const services = yield* Effect.context<SqlClient.SqlClient>()
      const sql = yield* SqlClient.SqlClient
      points.at.set(
        "plan.run.queued",
        Effect.asVoid(
          Effect.orDie(sql`UPDATE memberships SET role = 'member' WHERE subject = ${admin.actor.subject ?? ""}`)
        ).pipe(Effect.provideContext(services))
      )
      const { plan } = yield* revised(admin, capsule.id, "demoted-topic")
      expect(plan.phase).toBe("failed")
      expect(JSON.stringify(plan.diagnostics)).toContain("demoted-topic would receive private inputs")
      expect(yield* openings(capsule.id)).toEqual([])
    })
  )

  tests.live("a member may roll back along the lane, but not to another lane", () =>
    Effect.gen(function* () {
      const { commit, context } = yield* TestPlane
      const member = yield* person("member")
      const { capsule } = yield* active("earlier", moduleOf(), { variables })
      yield* (yield* SourceCommands).Update(capsule.sourceId, { context, request: { defaultRef: "HEAD" } })
      yield* commit("later", moduleOf("# later"))
      const { run } = yield* revised(context, capsule.id, "later")
      if (run === undefined) return yield* Effect.die("no plan")
      yield* applied(run)
      const { items } = yield* (yield* Capsules).stateVersions(capsule.id, { limit: 5 })
      const [newest, oldest] = [items[0], items.at(-1)]
      if (newest === undefined || oldest === undefined) return yield* Effect.die("no StateVersion")
      const runs = yield* Runs
      yield* refused(runs.rollbackPlan(member, oldest.id), "earlier")
      const along = yield* settled((yield* runs.rollbackPlan(member, newest.id)).id)
      expect(along.openedForRef).toBeUndefined()
    })
  )

  tests.live("an install's private values are available only to plans of the person who set the values", () =>
    Effect.gen(function* () {
      const { commit, workspaceId } = yield* TestPlane
      const [member, other] = [yield* person("member"), yield* person("member")]
      yield* commit("own", moduleOf())
      const installs = yield* InstallPlans
      const installPlanCommands = yield* InstallPlanCommands
      const request = yield* requestOf("own", { variables })
      const { value } = yield* installs.create(member, workspaceId, request, freshKey())
      const { capsuleId, phase, planRunId } = yield* stepped(
        installPlanCommands.Reconcile(value.id, { context: member })
      )
      if (capsuleId === undefined || planRunId === undefined) return yield* Effect.die("no Capsule")
      expect(phase).toBe("reviewable")
      expect((yield* settled(planRunId)).openedForRef).toBeUndefined()
      const capsules = yield* CapsuleCommands
      const again = yield* settled((yield* capsules.Plan(capsuleId, { context: member })).value.id)
      expect(again.status).toBe("waiting_approval")
      yield* refused(capsules.Plan(capsuleId, { context: other }), "private inputs", "(none yet)")
      yield* refused(reconfigured(other, capsuleId, "guessed"), "private inputs")
    })
  )

  tests.live(
    "a member's private install values become unavailable once another person queues a configuration plan",
    () =>
      Effect.gen(function* () {
        const { commit, context, workspaceId } = yield* TestPlane
        const member = yield* person("member")
        yield* commit("between", moduleOf())
        const installs = yield* InstallPlans
        const installPlanCommands = yield* InstallPlanCommands
        const request = yield* requestOf("between", { variables })
        const { value } = yield* installs.create(member, workspaceId, request, freshKey())
        const { capsuleId } = yield* stepped(installPlanCommands.Reconcile(value.id, { context: member }))
        if (capsuleId === undefined) return yield* Effect.die("no Capsule")
        const changed = yield* reconfigured(context, capsuleId, "the-owners-own-key")
        yield* settled(changed.value.run.id)
        yield* refused((yield* CapsuleCommands).Plan(capsuleId, { context: member }), "private inputs")
      })
  )
})
