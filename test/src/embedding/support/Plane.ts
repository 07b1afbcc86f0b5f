import { Context, Effect, FileSystem, Layer, References } from "effect"
import { platform } from "../../../../src/composition/Platform.ts"
import { Administration, layerServer, type Embedded } from "../../../../src/index.ts"
import type { Workspace } from "../../../../schema/records/Workspace.ts"
import type { User } from "../../../../actors/account/Users.ts"
import { demoRepository } from "../../../../src/cli/demo/DemoRepository.ts"

/** Whose control plane it is, and what can be installed. */
export class Surroundings extends Context.Service<
  Surroundings,
  { readonly user: User; readonly workspace: Workspace; readonly repository: string }
>()("test/embedding/Surroundings") {}

export const quiet = Layer.succeed(References.MinimumLogLevel, "Error")

export const temporaryFolder = Effect.flatMap(FileSystem.FileSystem, (files) =>
  files.makeTempDirectoryScoped({ prefix: "svc-embed-" })
)

/** A control plane with a listener, one account, and a repository with one module. */
export const servedPlane: Layer.Layer<Embedded | Surroundings> = Layer.unwrap(
  Effect.gen(function* () {
    const dataDir = yield* temporaryFolder
    const { origin, url } = yield* demoRepository
    const plane = layerServer({
      dataDir,
      listen: "127.0.0.1:0",
      settings: { gitAllowOrigins: origin, toolDownload: "off" }
    })
    const surroundings = Layer.effect(
      Surroundings,
      Effect.map(
        Effect.flatMap(Administration, ({ createAccount }) => createAccount({ email: "ada@example.com" })),
        ({ user, workspace }) => ({ user, workspace, repository: url })
      )
    )
    return surroundings.pipe(Layer.provideMerge(plane))
  })
).pipe(Layer.provide(platform), Layer.provide(quiet), Layer.orDie)
