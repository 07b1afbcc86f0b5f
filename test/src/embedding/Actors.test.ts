import { afterAll, describe, expect } from "bun:test"
import { Context, Deferred, Effect, Fiber, Layer, Stream } from "effect"
import * as Client from "../../../src/client/index.ts"
import {
  type Actor,
  Administration,
  ControlPlane,
  handler,
  InstallPlans,
  layer,
  Runs,
  Sources,
  Workspaces
} from "../../../src/index.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { suite } from "../../support/Effect.ts"
import { newMember, PlaneFixture, quiet, servedPlane } from "./support/Plane.ts"
import { migratedFolder } from "../../support/MigratedDatabase.ts"

const plane = suite(servedPlane)
afterAll(plane.dispose)

const as = <A, E, R>(layer: Layer.Layer<Actor, unknown, ControlPlane>, program: Effect.Effect<A, E, R>) =>
  Effect.provide(program, layer)

let people = 0
const person = Effect.gen(function* () {
  people += 1
  return yield* (yield* Administration).createAccount({ email: `person-${people}@example.com` })
})

const newSource = Effect.fnUntraced(function* (name: string) {
  const { workspace } = yield* PlaneFixture
  return yield* (yield* Sources).create({
    workspaceId: workspace.id,
    name,
    url: `https://git.example.com/${name}.git`
  })
})

const inWorkspace = Effect.gen(function* () {
  const { workspace } = yield* PlaneFixture
  return yield* (yield* Workspaces).get(workspace.id)
})

const tool = Bun.which("tofu") ?? Bun.which("terraform")

describe("In-process actors", () => {
  plane.live("an in-process actor cannot exceed its role or see other Workspaces", () =>
    Effect.gen(function* () {
      const { workspace } = yield* PlaneFixture
      const { user: stranger } = yield* person
      expect(yield* Effect.flip(as(ControlPlane.user(stranger.subject), inWorkspace))).toMatchObject({
        code: "permission_denied"
      })
      const guest = yield* newMember("viewer@example.com", "viewer")
      expect(yield* as(ControlPlane.user(guest.subject), inWorkspace)).toMatchObject({ id: workspace.id })
      expect(yield* Effect.flip(as(ControlPlane.user(guest.subject), newSource("forbidden")))).toMatchObject({
        code: "permission_denied"
      })
    })
  )

  plane.live("an account that is missing or disabled cannot be an in-process actor, even if it is disabled later", () =>
    Effect.gen(function* () {
      const administration = yield* Administration
      const { user } = yield* person
      const list = Effect.flatMap(Workspaces, ({ page }) => page())
      expect(yield* Effect.flip(as(ControlPlane.user("usr_nobody"), list))).toMatchObject({ code: "unauthenticated" })
      yield* as(
        ControlPlane.user(user.subject),
        Effect.gen(function* () {
          expect((yield* list).items).toHaveLength(1)
          yield* administration.disableAccount(user.subject)
          expect(yield* Effect.flip(list)).toMatchObject({ code: "unauthenticated" })
        })
      )
      expect(yield* Effect.flip(as(ControlPlane.user(user.subject), list))).toMatchObject({ code: "unauthenticated" })
      yield* administration.enableAccount(user.subject)
      expect((yield* as(ControlPlane.user(user.subject), list)).items).toHaveLength(1)
    })
  )

  plane.live("an in-process actor is limited to its Workspace and Projects", () =>
    Effect.gen(function* () {
      const { user, workspace } = yield* PlaneFixture
      const other = yield* as(
        ControlPlane.user(user.subject),
        Effect.flatMap(Workspaces, ({ create }) => create({ handle: "elsewhere" }))
      )
      const confined = ControlPlane.user(user.subject, { workspaceId: other.id })
      expect(yield* Effect.flip(as(confined, inWorkspace))).toMatchObject({ code: "permission_denied" })
      const scopes = ["read", "write", "environment:staging"]
      // svc refuses limits without a Workspace, as it does for tokens, because the limits would not apply to other
      // Workspaces.
      expect(yield* Effect.flip(as(ControlPlane.user(user.subject, { scopes }), inWorkspace))).toMatchObject({
        code: "invalid_request"
      })
      const limited = ControlPlane.user(user.subject, { scopes, workspaceId: workspace.id })
      const listed = Effect.flatMap(Sources, ({ page }) => page(workspace.id))
      expect(yield* Effect.flip(as(limited, listed))).toMatchObject({ code: "permission_denied" })
      // Reads cached for one actor must not be served to an actor with different authority.
      yield* as(ControlPlane.user(user.subject), listed)
      expect(yield* Effect.flip(as(limited, listed))).toMatchObject({ code: "permission_denied" })
    })
  )

  plane.live(
    "an in-process actor has the service's authority only if created as the service, and is audited as such",
    () =>
      Effect.gen(function* () {
        const { user, workspace } = yield* PlaneFixture
        yield* as(ControlPlane.user(user.subject), newSource("by-a-person"))
        yield* as(ControlPlane.service, newSource("by-the-service"))
        const account = Effect.flatMap(Workspaces, ({ page }) => page())
        expect(yield* Effect.flip(as(ControlPlane.service, account))).toMatchObject({ code: "permission_denied" })
        const history = Effect.flatMap(Workspaces, ({ activity }) =>
          Stream.runCollect(activity(workspace.id, { action: "source.create" }))
        )
        const actors = (yield* as(ControlPlane.service, history)).map(({ actor }) => actor)
        expect(actors.slice(0, 2)).toEqual([{ kind: "service" }, { kind: "user", subject: user.subject }])
      })
  )

  plane.live("a control plane rejects in-process actors from another control plane or from an external request", () =>
    Effect.gen(function* () {
      const { user } = yield* PlaneFixture
      const here = yield* ControlPlane
      const services = yield* Layer.build(
        layer({ dataDir: yield* Effect.provide(migratedFolder, platform), baseUrl: "https://svc.example.com" }).pipe(
          Layer.provide(quiet),
          Layer.provide(platform)
        )
      )
      const list = Effect.flatMap(Workspaces, ({ page }) => page())
      const local = ControlPlane.user(user.subject)
      expect((yield* as(local, list)).items.length).toBeGreaterThan(0)
      const there = Effect.provideContext(list, Context.pick(Workspaces)(services))
      expect(yield* Effect.flip(as(local, there))).toMatchObject({ code: "unauthenticated" })
      const overHttp = Effect.provide(list, Client.layer({ baseUrl: here.baseUrl }))
      expect(yield* Effect.flip(as(local, overHttp))).toMatchObject({ code: "unauthenticated" })

      const answer = yield* handler
      const address = { remoteAddress: "203.0.113.7", host: { kind: "service" }, identity: { kind: "service" } }
      const request = new Request(`${here.baseUrl}/api/v1/workspaces`)
      expect((yield* Effect.promise(() => answer(request, address))).status).toBe(401)
    })
  )

  plane.live(
    "an in-process actor loses a live stream when its account is disabled",
    () =>
      Effect.gen(function* () {
        if (tool === null) return
        const { repository, user, workspace } = yield* PlaneFixture
        const guest = yield* newMember("watcher@example.com", "viewer")
        const plan = yield* as(
          ControlPlane.user(user.subject),
          Effect.gen(function* () {
            const installs = yield* InstallPlans
            const install = yield* installs.create(workspace.id, {
              source: { name: "watched", url: repository },
              capsule: { name: "watched", environment: "production" },
              options: { modulePath: "." }
            })
            return yield* installs.waitFor(install.id)
          })
        )
        const waiting = yield* Deferred.make<void>()
        const follow = Effect.flatMap(Runs, ({ events }) =>
          events(plan.id).pipe(
            Stream.runForEach(({ kind }) =>
              kind === "run.waiting_approval" ? Deferred.succeed(waiting, undefined) : Effect.void
            )
          )
        )
        const following = yield* Effect.forkChild(as(ControlPlane.user(guest.subject), follow))
        yield* Deferred.await(waiting)
        yield* (yield* Administration).disableAccount(guest.subject)
        expect(yield* Effect.flip(Fiber.join(following))).toMatchObject({ code: "unauthenticated" })
      }),
    120_000
  )
})
