import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { GeneratedSecrets } from "../../../../actors/inputs/delivery/GeneratedSecrets.ts"
import { capsuleClientId } from "../../../../actors/access/issuer/CapsuleClients.ts"
import { Grants } from "../../../../actors/access/issuer/Grants.ts"
import { Interfaces } from "../../../../actors/ledger/interface/Interfaces.ts"
import { OutputShares } from "../../../../actors/ledger/output-share/OutputShares.ts"
import { RevisionPlans } from "../../../../actors/commands/revision-plan/RevisionPlans.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { Runs, RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import { newId } from "../../../../actors/base/Identity.ts"
import { readWorkspaceGraph } from "../../../../actors/ledger/workspace/WorkspaceGraph.ts"
import type { ReleaseRequest } from "../../../../schema/api/CapsuleReleased.ts"
import { type CapsuleId, RunId, SourceSnapshotId, type WorkspaceId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { settled } from "../../../support/Journey.ts"
import { Bench, deployed, hostedPlane, install, outputsOf } from "../../support/HostedPlane.ts"
import { setRun } from "../../../support/HeldRuns.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

setDefaultTimeout(60_000)

const tests = suite(hostedPlane)
afterAll(tests.dispose)

const released = Effect.fnUntraced(function* (id: CapsuleId, confirm: string, more: Partial<ReleaseRequest> = {}) {
  const { context } = yield* Bench
  return yield* (yield* CapsuleCommands).Release(id, {
    context,
    request: { confirm, reason: "moved_elsewhere", ...more }
  })
})

const planOf = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { context } = yield* Bench
  return yield* settled((yield* (yield* CapsuleCommands).Plan(capsuleId, { context })).value.id)
})

const codeOf = <A, E extends { readonly code: string }, R>(refused: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(refused), ({ code }) => code)

const historyOf = Effect.fnUntraced(function* (capsuleId: CapsuleId, action: string, inWorkspace?: WorkspaceId) {
  const { context, workspaceId } = yield* Bench
  const { items } = yield* (yield* Audit).list(
    inWorkspace ?? workspaceId,
    context.actor.subject ?? "",
    { action, capsuleId },
    { limit: 10 }
  )
  return items
})

const reasonOf = Effect.fnUntraced(function* (id: RunId) {
  const { items } = yield* (yield* RunStreams).events(id, 0, 1000)
  return items.find((event) => event.kind === "run.superseded")?.data["reason"]
})

describe.skipIf(Bun.which("terraform") === null)("Released Capsules", () => {
  tests.live(
    "releasing a Capsule destroys nothing, revokes the access that the Capsule granted, and keeps its evidence",
    () =>
      Effect.gen(function* () {
        const { context, subject, workspaceId } = yield* Bench
        const sql = yield* SqlClient.SqlClient
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const runs = yield* Runs
        const interfaces = yield* Interfaces
        const web = yield* deployed("web", "web")
        const surfaces = Effect.map(
          interfaces.uiSurfaces(workspaceId, subject, {}, { limit: 100 }),
          ({ items }) => items
        )
        yield* eventually(surfaces, (items) => items.length === 1)
        const waiting = yield* planOf(web.capsuleId)
        yield* capsuleCommands.Update(web.capsuleId, { context, autoUpdate: { enabled: true, apply: true } })
        const before = yield* capsules.read(web.capsuleId)

        expect(yield* codeOf(released(web.capsuleId, "Web"))).toBe("invalid_request")
        expect((yield* capsules.read(web.capsuleId)).status).toBe("active")
        const answer = yield* released(web.capsuleId, "web", { comment: "The platform team runs it now." })
        expect(answer.capsule).toMatchObject({
          status: "released",
          release: { by: subject, reason: "moved_elsewhere", comment: "The platform team runs it now." },
          autoUpdate: { enabled: false, apply: false },
          executionAuthorityEpoch: before.executionAuthorityEpoch + 1,
          currentStateVersionId: before.currentStateVersionId,
          currentStateGeneration: before.currentStateGeneration
        })
        expect(answer.capsule.publicEndpoint).toBeUndefined()
        expect(answer.retiredInterfaceIds).toHaveLength(1)

        // The release started no Run, and voided the waiting plan.
        const { items } = yield* runs.list(workspaceId, { capsuleId: web.capsuleId }, { limit: 100 })
        expect(items.map(({ type }) => type).toSorted()).toEqual(["apply", "plan", "plan"])
        expect((yield* runs.read(waiting.id)).status).toBe("superseded")
        expect(yield* reasonOf(waiting.id)).toBe("The Capsule was released.")
        expect(yield* surfaces).toEqual([])
        expect(yield* sql`SELECT DISTINCT status FROM interface_bindings`).toEqual([{ status: "revoked" }])

        // svc keeps the evidence: state, Outputs, Runs, logs, history, and the secret that the infrastructure still uses.
        expect(
          (yield* capsules.stateVersions(web.capsuleId, { limit: 10 })).items.map(({ generation }) => generation)
        ).toEqual([1])
        expect(Object.keys(yield* outputsOf(web.capsuleId))).toContain("app_url")
        expect((yield* (yield* RunStreams).logs(web.run.id, 0, 10)).items.length).toBeGreaterThan(0)
        expect((yield* historyOf(web.capsuleId, "capsule.release"))[0]?.data).toMatchObject({
          reason: "moved_elsewhere",
          comment: "The platform team runs it now.",
          stateVersionId: before.currentStateVersionId
        })
        const secret = yield* (yield* GeneratedSecrets).find(
          { id: web.capsuleId, workspace_id: workspaceId },
          { target: "variable:session_key", bytes: 48, encoding: "base64url" }
        )
        expect(secret).toBeDefined()
        expect((yield* capsules.backup(context, workspaceId, web.capsuleId)).sizeBytes).toBeGreaterThan(0)

        const guard = { authorityGuard: answer.capsule.installConfigReAdoption.authorityGuard }
        const version = before.currentStateVersionId ?? (yield* Effect.die("no StateVersion"))
        const other = yield* deployed("second", "plain/producer")
        const key = { key: "after release", requestDigest: "x" }
        const refusals = yield* Effect.all([
          codeOf(capsuleCommands.Plan(web.capsuleId, { context })),
          codeOf(capsuleCommands.DestroyPlan(web.capsuleId, { context })),
          codeOf(capsuleCommands.DriftCheck(web.capsuleId, { context })),
          codeOf(capsuleCommands.Remove(web.capsuleId, { context })),
          codeOf(capsuleCommands.Update(web.capsuleId, { context, name: "again" })),
          codeOf(
            capsuleCommands.ConfigurationPlan(web.capsuleId, {
              context,
              request: { expected: guard },
              idempotency: key
            })
          ),
          codeOf(
            capsuleCommands.ReAdopt(web.capsuleId, {
              context,
              request: {
                baseInstallConfigId: answer.capsule.installConfigId,
                sourceSnapshotId: SourceSnapshotId.make(web.run.sourceSnapshotId ?? ""),
                reason: "again",
                expected: guard
              },
              idempotency: key
            })
          ),
          codeOf((yield* RevisionPlans).create(context, web.capsuleId, { ref: "main" }, key)),
          codeOf(runs.rollbackPlan(context, version)),
          codeOf(runs.apply(context, waiting.id, undefined)),
          codeOf(
            (yield* Dependencies).create(context, web.capsuleId, {
              producerCapsuleId: other.capsuleId,
              mode: "remote_state",
              outputs: []
            })
          ),
          codeOf(released(web.capsuleId, "web"))
        ])
        expect([...new Set<string>(refusals)]).toEqual(["failed_precondition"])
        const producing = (yield* Dependencies).create(context, other.capsuleId, {
          producerCapsuleId: web.capsuleId,
          mode: "remote_state",
          outputs: []
        })
        expect(yield* codeOf(producing)).toBe("invalid_request")
        expect((yield* capsules.needingAttention(workspaceId)).map(({ id }) => id)).not.toContain(web.capsuleId)
        expect((yield* readWorkspaceGraph(workspaceId)).nodes.map(({ id }) => id)).not.toContain(web.capsuleId)

        // The Capsule's name and the endpoint that the operator assigned to it can be used again.
        const heir = yield* install("web", "web")
        expect(heir.diagnostics).toEqual([])
        expect(heir.capsuleId).not.toBe(web.capsuleId)
      })
  )

  tests.live("releasing a Capsule revokes its sign-in client with every grant and token", () =>
    Effect.gen(function* () {
      const { subject, workspaceId } = yield* Bench
      const sql = yield* SqlClient.SqlClient
      const grants = yield* Grants
      const site = yield* deployed("site", "sign-in")
      const granted = yield* transaction(sql)(
        grants.insert({
          clientId: capsuleClientId(site.capsuleId),
          subject,
          sessionId: undefined,
          workspaceId,
          scopes: ["openid"],
          claims: { idToken: [], userinfo: [] },
          resource: undefined,
          redirectUri: undefined,
          authTime: 0
        })
      )
      yield* released(site.capsuleId, "site", { reason: "infrastructure_gone" })
      expect(yield* sql`SELECT status FROM oidc_capsule_clients WHERE capsule_id = ${site.capsuleId}`).toEqual([
        { status: "retired" }
      ])
      expect(yield* grants.findLive(sql, granted.id)).toBeUndefined()
    })
  )

  tests.live(
    "consumers of a released Capsule show that it was released, both in the same Workspace and in other Workspaces",
    () =>
      Effect.gen(function* () {
        const { context, otherWorkspaceId, workspaceId } = yield* Bench
        const runs = yield* Runs
        const runCommands = yield* RunCommands
        const shares = yield* OutputShares
        const dependencies = yield* Dependencies
        const producer = yield* deployed("giver", "plain/producer")
        const near = yield* deployed("near", "plain/consumer")
        const far = yield* deployed("far", "plain/consumer", { workspaceId: otherWorkspaceId })
        const offered = yield* shares.create(context, {
          fromWorkspaceId: workspaceId,
          toWorkspaceId: otherWorkspaceId,
          producerCapsuleId: producer.capsuleId,
          outputs: [{ name: "greeting" }]
        })
        yield* shares.approve(context, offered.id, otherWorkspaceId)
        const depend = (consumer: CapsuleId) =>
          dependencies.create(context, consumer, {
            producerCapsuleId: producer.capsuleId,
            mode: "published_output",
            outputs: [{ from: "greeting", to: "greeting", required: true }]
          })
        yield* depend(near.capsuleId)
        yield* depend(far.capsuleId)
        const waiting = yield* planOf(near.capsuleId)
        const approved = yield* runCommands.Approve((yield* planOf(far.capsuleId)).id, { context })

        const answer = yield* released(producer.capsuleId, "giver")
        expect(answer.consumerCapsuleIds).toEqual([near.capsuleId])
        expect(answer.consumersElsewhere).toBe(1)
        expect(answer.revokedShareIds).toEqual([offered.id])
        const ended = "A Capsule whose Outputs this plan used was released. Plan again."
        for (const plan of [waiting, approved]) {
          expect((yield* runs.read(plan.id)).status).toBe("superseded")
          expect(yield* reasonOf(plan.id)).toBe(ended)
        }
        const told = {
          producerCapsuleId: producer.capsuleId,
          reason: "moved_elsewhere",
          supersededRunIds: [waiting.id]
        }
        expect((yield* historyOf(near.capsuleId, "dependency.producer_released"))[0]?.data).toMatchObject(told)
        const elsewhere = yield* historyOf(far.capsuleId, "dependency.producer_released", otherWorkspaceId)
        expect(elsewhere[0]?.data).toMatchObject({ ...told, supersededRunIds: [approved.id] })
        const revoked = (yield* shares.list(otherWorkspaceId, { limit: 100 })).items.find(({ id }) => id === offered.id)
        expect(revoked).toMatchObject({ status: "revoked" })

        const after = yield* planOf(near.capsuleId)
        expect(after.status).toBe("failed")
        expect(after.error?.message).toContain("It was released: it moved elsewhere. Remove the dependency")
      })
  )

  tests.live(
    "svc rejects a release while a Run is active, and if a release and a plan race, exactly one of them succeeds",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* Bench
        const sql = yield* SqlClient.SqlClient
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const ledger = yield* RunLedger
        const pending = yield* install("pending", "plain/producer")
        if (pending.capsuleId === undefined) return yield* Effect.die("no Capsule")
        expect(yield* codeOf(released(pending.capsuleId, "pending"))).toBe("failed_precondition")

        const moving = yield* deployed("moving", "plain/producer")
        for (const type of ["plan", "apply", "drift_check"] as const) {
          const id = yield* newId(RunId, "run")
          yield* transaction(sql)(
            Effect.andThen(
              ledger.insert({ id, workspaceId, type, capsuleId: moving.capsuleId, trigger: "user", spec: {} }),
              setRun(id, { status: "running" })
            )
          )
          const refused = yield* Effect.flip(released(moving.capsuleId, "moving"))
          expect(refused.code).toBe("run_conflict")
          expect(refused.message).toContain(id)
          yield* setRun(id, { status: "cancelled" })
        }
        yield* capsuleCommands.Update(moving.capsuleId, { context, status: "disabled" })
        expect((yield* released(moving.capsuleId, "moving")).capsule.status).toBe("released")

        for (let round = 0; round < 2; round += 1) {
          const name = `race ${round}`
          const { capsuleId } = yield* deployed(name, "plain/producer")
          const plan = Effect.result(Effect.asVoid(capsuleCommands.Plan(capsuleId, { context })))
          const release = Effect.result(Effect.asVoid(released(capsuleId, name)))
          const both = yield* Effect.all(round % 2 === 0 ? [plan, release] : [release, plan], {
            concurrency: "unbounded"
          })
          expect(both.filter(Result.isSuccess)).toHaveLength(1)
          const { status } = yield* capsules.read(capsuleId)
          const [lost] = both.filter(Result.isFailure)
          expect<string | undefined>(lost?.failure.code).toBe(
            status === "released" ? "failed_precondition" : "run_conflict"
          )
        }
      })
  )
})
