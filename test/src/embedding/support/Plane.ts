import { Context, Effect, FileSystem, Layer, Redacted, References } from "effect"
import { platform } from "../../../../src/composition/Platform.ts"
import {
  Actor,
  Administration,
  ControlPlane,
  type Embedded,
  handler,
  layerServer,
  Members,
  SvcClient
} from "../../../../src/index.ts"
import type { Role, Workspace } from "../../../../schema/records/Workspace.ts"
import type { User } from "../../../../actors/access/account/Users.ts"
import { demoRepository } from "../../../support/DemoRepository.ts"
import { migratedFolder } from "../../../support/MigratedDatabase.ts"

/** The owner of a control plane, and a module that the owner can install. */
export class PlaneFixture extends Context.Service<
  PlaneFixture,
  { readonly user: User; readonly workspace: Workspace; readonly repository: string }
>()("test/embedding/PlaneFixture") {}

export const quiet = Layer.succeed(References.MinimumLogLevel, "Error")

export const temporaryFolder = Effect.flatMap(FileSystem.FileSystem, (files) =>
  files.makeTempDirectoryScoped({ prefix: "svc-embed-" })
)

/** A control plane with a listener, one account, and a repository that contains one module. */
export const servedPlane: Layer.Layer<Embedded | PlaneFixture> = Layer.unwrap(
  Effect.gen(function* () {
    const dataDir = yield* migratedFolder
    const { origin, url } = yield* demoRepository
    const plane = layerServer({
      dataDir,
      listen: "127.0.0.1:0",
      settings: { gitAllowOrigins: [origin], toolDownload: "off" }
    })
    const fixture = Layer.effect(
      PlaneFixture,
      Effect.map(
        Effect.flatMap(Administration, ({ createAccount }) => createAccount({ email: "ada@example.com" })),
        ({ user, workspace }) => ({ user, workspace, repository: url })
      )
    )
    return fixture.pipe(Layer.provideMerge(plane))
  })
).pipe(Layer.provide(platform), Layer.provide(quiet), Layer.orDie)

/** Sets the account's password by setup link, and returns the session secret. */
export const openSession = Effect.fnUntraced(function* (subject: string) {
  const { baseUrl } = yield* ControlPlane
  const answer = yield* handler
  const link = Redacted.value(yield* (yield* Administration).setupLink(subject))
  const secret = link.split("#")[1]
  const opened = yield* Effect.promise(() =>
    answer(
      new Request(`${baseUrl}/auth/setup`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: baseUrl },
        body: JSON.stringify({ secret, password: "correct horse battery staple" })
      })
    )
  )
  return Redacted.make(/_session=([^;]+)/.exec(opened.headers.get("set-cookie") ?? "")?.[1] ?? "")
})

/** Creates another account, which joins the Workspace by invitation. */
export const newMember = Effect.fnUntraced(function* (email: string, role: Role) {
  const { user, workspace } = yield* PlaneFixture
  const { user: guest } = yield* (yield* Administration).createAccount({ email })
  const added = (yield* Members).add(workspace.id, { email, role })
  const { link = "" } = yield* Effect.provide(added, ControlPlane.user(user.subject))
  const { invitations } = yield* SvcClient
  const accepted = invitations.accept({ payload: { secret: link.split("#")[1] ?? "" } })
  yield* Effect.provide(accepted, Actor.session(yield* openSession(guest.subject)))
  return guest
})
