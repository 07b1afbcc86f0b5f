import { afterAll, describe, expect } from "bun:test"
import { Effect, Layer, Stream } from "effect"
import * as Client from "../../../src/client/index.ts"
import {
  Actor,
  Administration,
  Capsules,
  ControlPlane,
  InstallPlans,
  Members,
  RevisionFailed,
  RevisionPlans,
  RunFailed,
  Runs,
  Sources,
  type SvcServices,
  Workspaces
} from "../../../src/index.ts"
import { suite } from "../../support/Effect.ts"
import { PlaneFixture, servedPlane } from "./support/Plane.ts"

const plane = suite(servedPlane)
afterAll(plane.dispose)

/** Provides the services over one of two transports, with an actor that has the same authority. */
type Way = (
  scopes: ReadonlyArray<string>
) => Layer.Layer<SvcServices | Actor, unknown, ControlPlane | Administration | PlaneFixture | SvcServices>

const inProcess: Way = (scopes) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const services = yield* Effect.context<SvcServices>()
      const { user } = yield* PlaneFixture
      return Layer.merge(Layer.succeedContext(services), ControlPlane.user(user.subject, { scopes }))
    })
  )

const overHttp: Way = (scopes) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { baseUrl } = yield* ControlPlane
      const { createToken } = yield* Administration
      const { user } = yield* PlaneFixture
      const token = yield* createToken(user.subject, { name: "conformance", scopes })
      return Layer.merge(Client.layer({ baseUrl }), Actor.token(token))
    })
  )

const ways: ReadonlyArray<readonly [name: string, way: Way]> = [
  ["in process", inProcess],
  ["over HTTP", overHttp]
]

const tool = Bun.which("tofu") ?? Bun.which("terraform")

/** Defines a program under test, which runs once over each transport and does not know which transport it uses. */
const program = (
  name: string,
  body: (way: string) => Effect.Effect<unknown, unknown, SvcServices | Actor | PlaneFixture>,
  scopes: ReadonlyArray<string> = ["read", "write"]
) => {
  for (const [way, layer] of ways) {
    plane.live(`${name}, ${way}`, () => Effect.provide(body(way), layer(scopes)), 120_000)
  }
}

const workspaceId = Effect.map(PlaneFixture, ({ workspace }) => workspace.id)

describe("one program", () => {
  program("reads pages as a Stream, from the cursor on", (way) =>
    Effect.gen(function* () {
      const sources = yield* Sources
      const workspace = yield* workspaceId
      const names = Array.from({ length: 5 }, (_, index) => `${way} ${index}`)
      const isOwn = ({ name }: { readonly name: string }) => name.startsWith(way)
      yield* Effect.forEach(names, (name) =>
        sources.create({ workspaceId: workspace, name, url: `https://git.example.com/${encodeURIComponent(name)}.git` })
      )
      const listed = yield* Stream.runCollect(Stream.filter(sources.list(workspace), isOwn))
      expect(listed.map(({ name }) => name).toSorted()).toEqual(names)
      const first = yield* sources.page(workspace, { limit: 2 })
      expect(first.items).toHaveLength(2)
      const all = yield* Stream.runCollect(sources.list(workspace))
      const second = yield* sources.page(workspace, { limit: 2, cursor: first.nextCursor ?? "" })
      expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(all.slice(0, 4).map(({ id }) => id))
      yield* Effect.forEach(listed, ({ id }) => sources.remove(id))
    })
  )

  program("fails with the refusal, its code and the id of the request", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip((yield* Capsules).get("cap_unknown"))
      expect(error).toBeInstanceOf(Client.ApiError)
      expect(error).toMatchObject({ code: "not_found", requestId: expect.stringMatching(/^req_[a-z2-7]{16}$/) })
      const invalid = yield* Effect.flip((yield* Workspaces).update(yield* workspaceId, { displayName: "" }))
      expect(invalid).toMatchObject({ _tag: "ApiError", code: "invalid_request" })
    })
  )

  program(
    "is refused what its scopes do not allow",
    () =>
      Effect.gen(function* () {
        const workspaces = yield* Workspaces
        const id = yield* workspaceId
        expect((yield* workspaces.get(id)).role).toBe("owner")
        const refused = yield* Effect.flip(workspaces.update(id, { displayName: "Renamed" }))
        expect(refused).toMatchObject({ code: "insufficient_scope" })
        const members = yield* Stream.runCollect((yield* Members).list(id))
        expect(members.map(({ role }) => role)).toEqual(["owner"])
      }),
    ["read"]
  )

  program("installs, follows, reviews and applies", (way) =>
    Effect.gen(function* () {
      if (tool === null) return
      const installs = yield* InstallPlans
      const runs = yield* Runs
      const capsules = yield* Capsules
      const { repository, workspace } = yield* PlaneFixture
      const request = {
        source: { name: way, url: repository },
        capsule: { name: way, environment: "production" },
        options: { modulePath: "." }
      }
      const once = { idempotencyKey: `install ${way}`.replaceAll(" ", "-") }
      const install = yield* installs.create(workspace.id, request, once)
      // The idempotency key covers the request: repeating the request returns the same install, and a different request is
      // refused.
      expect((yield* installs.create(workspace.id, request, once)).id).toBe(install.id)
      const other = { ...request, capsule: { name: "other", environment: "production" } }
      expect(yield* Effect.flip(installs.create(workspace.id, other, once))).toMatchObject({
        code: "idempotency_conflict"
      })

      const phases = yield* Stream.runCollect(Stream.map(installs.changes(install.id), ({ phase }) => phase))
      expect(phases.at(-1)).toBe("reviewable")
      const plan = yield* installs.waitFor(install.id)
      expect(plan.status).toBe("waiting_approval")
      expect(yield* runs.waitFor(plan.id)).toMatchObject({ id: plan.id, status: "waiting_approval" })

      const stale = yield* Effect.flip(runs.approve({ ...plan, planDigest: `sha256:${"0".repeat(64)}` }))
      expect(stale).toMatchObject({ code: "guard_conflict" })
      const approved = yield* runs.approve(plan, { comment: "Read it." })
      expect(approved).toMatchObject({ status: "succeeded", approvalComment: "Read it." })
      const apply = yield* runs.apply(plan.id, { idempotencyKey: `apply-${plan.id}` })
      expect((yield* runs.apply(plan.id, { idempotencyKey: `apply-${plan.id}` })).id).toBe(apply.id)

      // Following from the start returns the same events as resuming in the middle, without gaps.
      const events = yield* Stream.runCollect(runs.events(apply.id))
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
      expect(events.at(-1)?.kind).toBe("run.succeeded")
      const rest = yield* Stream.runCollect(runs.events(apply.id, { after: 3 }))
      expect(rest).toEqual(events.slice(3))
      const addresses = events.flatMap((event) => (event.kind === "resource.completed" ? [event.data.address] : []))
      expect(addresses).toEqual(["terraform_data.greeting"])
      const lines = yield* Stream.runCollect(runs.logs(apply.id))
      expect(lines.some(({ text }) => text.includes("Apply complete"))).toBe(true)

      expect((yield* runs.waitFor(apply.id)).status).toBe("succeeded")
      const { capsuleId } = apply
      if (capsuleId === undefined) return yield* Effect.die("The Run has no Capsule")
      expect(yield* capsules.outputs(capsuleId)).toMatchObject({ greeting: { value: "Hello, world!" } })
      expect((yield* capsules.get(capsuleId)).status).toBe("active")
      const listed = yield* Stream.runCollect(runs.list(workspace.id, { capsuleId, type: ["apply"] }))
      expect(listed.map(({ id }) => id)).toEqual([apply.id])
      expect(yield* Stream.runCollect(capsules.stateVersions(capsuleId))).toHaveLength(1)

      const again = yield* capsules.plan(capsuleId)
      yield* runs.waitFor(again.id)
      yield* runs.cancel(again.id, { reason: "Not needed." })
      const failed = yield* Effect.flip(runs.waitFor(again.id))
      expect(failed).toBeInstanceOf(RunFailed)
      expect(failed).toMatchObject({ run: { id: again.id, status: "cancelled" } })

      const revisions = yield* RevisionPlans
      const key = { idempotencyKey: `revision ${way}`.replaceAll(" ", "-") }
      const revision = yield* revisions.create(capsuleId, { ref: "HEAD" }, key)
      expect((yield* revisions.create(capsuleId, { ref: "HEAD" }, key)).id).toBe(revision.id)
      const reviewed = yield* revisions.waitFor(revision.id)
      expect(reviewed).toMatchObject({ revisionPlanId: revision.id, status: "waiting_approval" })
      expect(yield* Stream.runCollect(revisions.changes(revision.id))).toMatchObject([{ phase: "reviewable" }])
      yield* runs.cancel(reviewed.id)
      const ended = yield* Effect.flip(revisions.waitFor(revision.id))
      expect(ended).toBeInstanceOf(RevisionFailed)
      expect(ended).toMatchObject({ revisionPlan: { id: revision.id, nextAction: "plan_again" } })
    })
  )
})
