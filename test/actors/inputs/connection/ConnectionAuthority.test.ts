import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { RevisionPlans } from "../../../../actors/commands/revision-plan/RevisionPlans.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { ConnectionUse } from "../../../../schema/records/ConnectionUse.ts"
import { CredentialOrigin } from "../../../../schema/records/CredentialOrigin.ts"
import { type CapsuleId, type ConnectionId, ProjectId, RunId } from "../../../../schema/records/Ids.ts"
import { RelativePath } from "../../../../schema/records/Primitives.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import {
  active,
  bound,
  demoConnection,
  demoModule,
  freshKey,
  note,
  requestOf,
  settled,
  stepped
} from "../../../support/Journey.ts"
import { killPoints } from "../../../support/KillPoints.ts"
import { newMember, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"
import { RevisionPlanCommands } from "../../../../schema/commands/RevisionPlanCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"

setDefaultTimeout(120_000)

const points = killPoints()
const tests = suite(testPlane().pipe(Layer.provideMerge(points.layer)))
afterAll(tests.dispose)
beforeEach(() => points.at.clear())

const files = (name: string) => ({ "main.tf": demoModule(note(name)) })

/** Applies a Capsule that uses a new Connection, and returns both. The owner created both. */
const deployed = Effect.fnUntraced(function* (name: string, use?: ConnectionUse) {
  const connection = yield* demoConnection(`authority-canary-${name}`, use)
  const { capsule } = yield* active(name, files(name), { options: { providerBindings: [bound(connection.id)] } })
  return { connection, capsule }
})

const ownerContext = Effect.map(TestPlane, ({ context }) => context)
const aMember = Effect.flatMap(TestPlane, ({ context, workspaceId }) => newMember(workspaceId, context, "member"))

/** Counts rows in every table that a rejected request could have written to. */
const written = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`SELECT (SELECT COUNT(*) FROM runs) AS runs, (SELECT COUNT(*) FROM install_plans) AS installs,
    (SELECT COUNT(*) FROM revision_plans) AS revisions, (SELECT COUNT(*) FROM sources) AS sources,
    (SELECT COUNT(*) FROM install_configs) AS configs, (SELECT COUNT(*) FROM audit_events) AS events,
    (SELECT COUNT(*) FROM idempotency_receipts) AS receipts`
})

/** Checks that a rule rejects the request, that the error mentions the Connection, and that no row was written. */
const refused = Effect.fnUntraced(function* <A, R>(
  request: Effect.Effect<A, { readonly code: string; readonly message: string }, R>,
  field: string,
  name = "demo"
) {
  const before = yield* written
  const { code, message } = yield* Effect.flip(request)
  expect(code).toBe("permission_denied")
  expect(message).toContain(JSON.stringify(name))
  expect(message).toContain(field)
  expect(yield* written).toEqual(before)
})

const narrow = (id: ConnectionId, rule: ConnectionUse) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.asVoid(Effect.orDie(sql`UPDATE connections SET use_rule = ${JSON.stringify(rule)} WHERE id = ${id}`))
  )

const members: ConnectionUse = { roles: ["owner", "admin", "member"] }

const configured = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const capsules = yield* Capsules
  const { authorityGuard } = (yield* capsules.read(capsuleId)).installConfigReAdoption
  return { expected: { authorityGuard } }
})

describe.skipIf(Bun.which("terraform") === null)("Connection rules", () => {
  tests.live("every route that would use a Connection rejects a member before anything is written", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* TestPlane
      const member = yield* aMember
      const capsules = yield* Capsules
      const capsuleCommands = yield* CapsuleCommands
      const { capsule, connection } = yield* deployed("doors")
      const [version] = (yield* capsules.stateVersions(capsule.id, { limit: 1 })).items
      if (version === undefined) return yield* Effect.die("no StateVersion")
      const request = yield* requestOf("doors", { options: { providerBindings: [bound(connection.id)] } })
      const elsewhere = { ...request, capsule: { name: "elsewhere", environment: "test" } }
      const install = (yield* InstallPlans).create(member, workspaceId, elsewhere, freshKey())
      yield* refused(install, "use.roles")
      yield* refused(capsuleCommands.Plan(capsule.id, { context: member, idempotency: freshKey() }), "use.roles")
      yield* refused(capsuleCommands.DestroyPlan(capsule.id, { context: member }), "use.roles")
      yield* refused(capsuleCommands.DriftCheck(capsule.id, { context: member }), "use.roles")
      yield* refused((yield* Runs).rollbackPlan(member, version.id), "use.roles")
      yield* refused((yield* RevisionPlans).create(member, capsule.id, { ref: "doors" }, freshKey()), "use.roles")
      const change = { ...(yield* configured(capsule.id)), providerBindings: [bound(connection.id)] }
      yield* refused(
        capsuleCommands.ConfigurationPlan(capsule.id, { context: member, request: change, idempotency: freshKey() }),
        "use.roles"
      )
      // A token has the authority of the person who owns it.
      const token = { ...member, actor: { ...member.actor, kind: "token" as const, tokenId: "pat_x" } }
      yield* refused(capsuleCommands.Plan(capsule.id, { context: token }), "use.roles")
    })
  )

  tests.live(
    "a member whom the Connection's rule permits can plan the adopted lane, and the review shows the Connection, rule and role",
    () =>
      Effect.gen(function* () {
        const member = yield* aMember
        const owner = yield* ownerContext
        const { commit } = yield* TestPlane
        const { capsule, connection } = yield* deployed("granted", members)
        const capsules = yield* CapsuleCommands
        const revisions = yield* RevisionPlans
        const revisionPlanCommands = yield* RevisionPlanCommands
        const plan = yield* settled((yield* capsules.Plan(capsule.id, { context: member })).value.id)
        expect(plan.status).toBe("waiting_approval")
        expect(plan.providerResolutions?.[0]?.use).toEqual({
          connectionName: "demo",
          connectionVersion: 1,
          rule: members,
          role: "member",
          ref: "granted",
          basis: "rule",
          automatic: false
        })

        // Only an owner or admin may use a ref that was never adopted, and the review shows the role of the person who used
        // it.
        yield* commit("topic", { "main.tf": demoModule(`${note("granted")}\n# topic`) })
        yield* refused(revisions.create(member, capsule.id, { ref: "topic" }, freshKey()), "use.refs")
        const created = yield* revisions.create(owner, capsule.id, { ref: "topic" }, freshKey())
        const revision = yield* stepped(revisionPlanCommands.Reconcile(created.value.id, { context: owner }))
        expect(revision.phase).toBe("reviewable")
        if (revision.planRunId === undefined) return yield* Effect.die("no plan")
        const reviewed = yield* (yield* Runs).read(revision.planRunId)
        expect(reviewed.providerResolutions?.[0]?.use).toMatchObject({
          basis: "other_ref",
          role: "owner",
          ref: "topic"
        })

        // A rule that lists the ref permits the member to use the Connection. The Capsule's state needs a separate rule,
        // `reviewedRefs`.
        yield* (yield* ConnectionCommands).Update(connection.id, {
          context: owner,
          request: { use: { ...members, refs: ["topic"] } }
        })
        const ofState = yield* Effect.flip(revisions.create(member, capsule.id, { ref: "topic" }, freshKey()))
        expect(ofState.message).toContain("reviewedRefs")
        yield* (yield* SourceCommands).Update(capsule.sourceId, {
          context: owner,
          request: { reviewedRefs: ["topic"] }
        })
        yield* refused(capsules.Plan(capsule.id, { context: member }), "use.refs")
        const allowed = yield* revisions.create(member, capsule.id, { ref: "topic" }, freshKey())
        expect((yield* stepped(revisionPlanCommands.Reconcile(allowed.value.id, { context: member }))).phase).toBe(
          "reviewable"
        )
      })
  )

  tests.live("a default ref chosen by a member does not widen a Connection's rule", () =>
    Effect.gen(function* () {
      const member = yield* aMember
      const owner = yield* ownerContext
      const { commit, url, workspaceId } = yield* TestPlane
      const { capsule, connection } = yield* deployed("default", members)
      yield* commit("hostile", files("default"))
      const sources = yield* SourceCommands
      yield* sources.Update(capsule.sourceId, { context: member, request: { defaultRef: "hostile" } })
      const revisions = yield* RevisionPlans
      yield* refused(revisions.create(member, capsule.id, { ref: "hostile" }, freshKey()), "use.refs")
      const request = {
        source: { name: "own", url, ref: "hostile" },
        capsule: { name: "own", environment: "test" },
        options: { modulePath: RelativePath.make("."), providerBindings: [bound(connection.id)] }
      }
      yield* refused((yield* InstallPlans).create(member, workspaceId, request, freshKey()), "use.refs")
      // If an owner chooses another default ref, the rule also permits that ref.
      yield* sources.Update(capsule.sourceId, { context: owner, request: { defaultRef: "hostile" } })
      yield* revisions.create(member, capsule.id, { ref: "hostile" }, freshKey())
    })
  )

  tests.live("a Connection's restrictions to Projects and modules also apply to owners", () =>
    Effect.gen(function* () {
      const owner = yield* ownerContext
      const { url } = yield* TestPlane
      const { capsule, connection } = yield* deployed("confined")
      const capsules = yield* CapsuleCommands
      const connections = yield* ConnectionCommands
      const origin = CredentialOrigin.make(new URL(url).origin)
      const roles: ConnectionUse["roles"] = ["owner", "admin"]
      const module = { origin, path: RelativePath.make("modules/other") }
      yield* connections.Update(connection.id, { context: owner, request: { use: { roles, modules: [module] } } })
      yield* refused(capsules.Plan(capsule.id, { context: owner }), "use.modules")
      const own = [{ origin, path: RelativePath.make(".") }]
      yield* connections.Update(connection.id, {
        context: owner,
        request: {
          use: { roles, projectIds: [capsule.projectId], modules: own }
        }
      })
      const plan = yield* settled((yield* capsules.Plan(capsule.id, { context: owner })).value.id)
      expect(plan.status).toBe("waiting_approval")
      yield* (yield* RunCommands).Approve(plan.id, { context: owner })
      yield* narrow(connection.id, { roles, modules: [module] })
      yield* refused((yield* Runs).apply(owner, plan.id, undefined), "use.modules")
    })
  )

  tests.live("narrowing a Connection's rule during a Run stops the Run", () =>
    Effect.gen(function* () {
      const member = yield* aMember
      const owner = yield* ownerContext
      const { capsule, connection } = yield* deployed("narrowed", members)
      const capsules = yield* CapsuleCommands
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      const services = yield* Effect.context<SqlClient.SqlClient>()
      const closing = narrow(connection.id, { roles: ["owner"] }).pipe(Effect.provideContext(services))
      points.at.set("plan.run.queued", closing)
      const plan = yield* settled((yield* capsules.Plan(capsule.id, { context: member })).value.id)
      expect([plan.status, plan.error?.code]).toEqual(["failed", "blocked_policy"])
      expect(plan.error?.message).toContain("may be used by owners (use.roles), and you are a member")
      expect(plan.providerResolutions?.[0]).toMatchObject({ status: "blocked_policy", connectionId: connection.id })

      yield* narrow(connection.id, members)
      const again = yield* settled((yield* capsules.Plan(capsule.id, { context: owner })).value.id)
      yield* runCommands.Approve(again.id, { context: owner })
      points.at.set(
        "apply.run.queued",
        narrow(connection.id, { ...members, projectIds: [ProjectId.make(`prj_${"z".repeat(24)}`)] }).pipe(
          Effect.provideContext(services)
        )
      )
      const apply = yield* settled((yield* runs.apply(owner, again.id, undefined)).value.id)
      expect([apply.status, apply.error?.code]).toEqual(["failed", "blocked_policy"])
      expect(apply.error?.message).toContain("use.projectIds")
    })
  )

  tests.live(
    "automation has the authority of the person who enabled it, as long as that person keeps this authority",
    () =>
      Effect.gen(function* () {
        const owner = yield* ownerContext
        const { commit, workspaceId } = yield* TestPlane
        const { capsule } = yield* deployed("automatic")
        const capsuleCommands = yield* CapsuleCommands
        const sql = yield* SqlClient.SqlClient
        yield* capsuleCommands.Update(capsule.id, { context: owner, autoUpdate: { enabled: true, apply: false } })
        const followed = Effect.fnUntraced(function* (content: string, count: number) {
          yield* commit("automatic", { "main.tf": demoModule(`${note("automatic")}\n# ${content}`) })
          yield* settled((yield* (yield* Sources).sync(owner, capsule.sourceId, {})).id)
          const rows = yield* eventually(
            sql<{ id: string }>`SELECT id FROM runs WHERE capsule_id = ${capsule.id} AND trigger_kind = 'auto_update'
            AND status NOT IN ('queued', 'running') ORDER BY created_at DESC, id DESC`,
            (found) => found.length === count
          )
          const { items } = yield* (yield* Runs).list(workspaceId, { capsuleId: capsule.id }, { limit: 50 })
          return items.find(({ id }) => id === rows?.[0]?.id)
        })
        const first = yield* followed("two", 1)
        expect(first?.providerResolutions?.[0]?.use).toMatchObject({ automatic: true, role: "owner", basis: "rule" })

        yield* sql`UPDATE capsules SET auto_update_by = NULL WHERE id = ${capsule.id}`
        const second = yield* followed("three", 2)
        expect([second?.status, second?.error?.code]).toEqual(["failed", "blocked_policy"])
        expect(second?.error?.message).toContain("enabled this automation")
      })
  )

  tests.live(
    "people permitted by a Git Connection's rule can use the Connection to attach, sync and follow Sources",
    () =>
      Effect.gen(function* () {
        const member = yield* aMember
        const owner = yield* ownerContext
        const { url, workspaceId } = yield* TestPlane
        const connections = yield* Connections
        const connectionCommands = yield* ConnectionCommands
        const sources = yield* Sources
        const sourceCommands = yield* SourceCommands
        const git = yield* connections.create(owner, {
          workspaceId,
          provider: "git",
          kind: "git_https",
          recipeId: "git-https-token",
          displayName: "forge",
          origins: [CredentialOrigin.make(new URL(url).origin)],
          values: { token: "git-authority-canary" }
        })
        const mine = { workspaceId, name: "mine", url, authConnectionId: git.id }
        yield* refused(sources.create(member, mine), "use.roles", "forge")
        const { source } = yield* sources.create(member, { workspaceId, name: "plain", url })
        yield* refused(
          sourceCommands.Update(source.id, { context: member, request: { authConnectionId: git.id } }),
          "use.roles",
          "forge"
        )
        const install = { ...(yield* requestOf("git")), source: { name: "git", url, authConnectionId: git.id } }
        yield* refused((yield* InstallPlans).create(member, workspaceId, install, freshKey()), "use.roles", "forge")

        yield* sourceCommands.Update(source.id, { context: owner, request: { authConnectionId: git.id } })
        yield* refused(sources.sync(member, source.id, {}), "use.roles", "forge")
        yield* refused(
          sourceCommands.Update(source.id, { context: member, request: { autoSync: true } }),
          "use.roles",
          "forge"
        )
        yield* connectionCommands.Update(git.id, { context: owner, request: { use: members } })
        expect((yield* settled((yield* sources.sync(member, source.id, {})).id)).status).toBe("succeeded")
        // A ref that a member fetches does not become the rule's default ref.
        const hostile = { defaultRef: "hostile" }
        yield* refused(sourceCommands.Update(source.id, { context: member, request: hostile }), "use.refs", "forge")
        yield* refused(sources.create(member, { ...mine, ...hostile }), "use.refs", "forge")
        const ofRef = { ...install, source: { ...install.source, ref: "hostile" } }
        yield* refused((yield* InstallPlans).create(member, workspaceId, ofRef, freshKey()), "use.refs", "forge")
        const chosen = yield* sources.create(member, { workspaceId, name: "chosen", url, ...hostile })
        yield* sourceCommands.Update(chosen.source.id, { context: owner, request: { authConnectionId: git.id } })
        yield* refused(sources.sync(member, chosen.source.id, {}), "use.refs", "forge")
        yield* sourceCommands.Update(source.id, { context: owner, request: hostile })
        yield* sources.sync(member, source.id, {})
        yield* sourceCommands.Update(source.id, { context: owner, request: { defaultRef: "HEAD" } })
        const bodies = [
          { projectIds: [ProjectId.make(`prj_${"z".repeat(24)}`)] },
          { modules: [{ origin: CredentialOrigin.make("https://git.example.com"), path: RelativePath.make(".") }] }
        ]
        for (const confinement of bodies) {
          const update = connectionCommands.Update(git.id, {
            context: owner,
            request: { use: { ...members, ...confinement } }
          })
          expect((yield* Effect.flip(update)).code).toBe("invalid_request")
        }

        // Automatic fetches are not checked again, because the person who attached the Connection is responsible for them.
        const sql = yield* SqlClient.SqlClient
        yield* connectionCommands.Update(git.id, { context: owner, request: { use: { roles: ["owner"] } } })
        yield* sql`UPDATE sources SET auth_connection_by = ${member.actor.subject ?? null} WHERE id = ${source.id}`
        const renewed = yield* sourceCommands.RenewHookSecret(source.id, { context: owner, hookSecretVersion: 1 })
        const delivery = {
          proofs: { secrets: [renewed.hookSecret ?? ""] },
          body: Stream.make(new TextEncoder().encode("{}"))
        }
        yield* sql`UPDATE sources SET auto_sync = 1 WHERE id = ${source.id}`
        const [runId] = (yield* sources.hook(source.id, delivery)).runIds
        if (runId === undefined) return yield* Effect.die("no Run")
        const looked = yield* settled(RunId.make(runId))
        expect([looked.status, looked.error?.code]).toEqual(["failed", "permission_denied"])
        expect(looked.error?.message).toContain('"forge"')
      })
  )
})
