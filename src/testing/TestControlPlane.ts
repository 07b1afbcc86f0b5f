import { Context, Effect, FileSystem, Layer, Path, type PlatformError, type Redacted } from "effect"
import type { User } from "../../actors/access/account/Users.ts"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import type { Workspace } from "../../schema/records/Workspace.ts"
import { serveRepository } from "./git-server/GitServer.ts"
import { commitFiles, createRepository } from "./git-server/RepositoryWriter.ts"
import type { Actor } from "../client/Actor.ts"
import { platform } from "../composition/Platform.ts"
import { Administration } from "../embedding/Administration.ts"
import { ControlPlane } from "../embedding/ControlPlane.ts"
import { type Embedded, layerServer } from "../embedding/Layers.ts"
import type { PlainOptions } from "../embedding/Options.ts"
import type { StartFailed } from "../embedding/StartFailed.ts"

/** File contents, keyed by path in the repository. */
export type TestFiles = Readonly<Record<string, string>>

/** A Git repository that is served on loopback. */
export interface TestRepository {
  readonly url: string
  /** Creates a commit with exactly these files on `main`, and returns the commit id. */
  readonly commit: (files: TestFiles, message?: string) => Effect.Effect<string>
}

/** Person for whom the test acts. */
export interface TestAccount {
  readonly user: User
  /** Workspace that the person owns. */
  readonly workspace: Workspace
  /** A personal access token with `read` and `write`, for clients over HTTP. */
  readonly token: Redacted.Redacted
}

export interface TestOptions {
  /** Repositories, keyed by name, with the files of their first commit. */
  readonly repositories?: Readonly<Record<string, TestFiles>>
  readonly settings?: PlainOptions["settings"]
}

/** Services that a test receives in addition to the control plane. */
export class TestControlPlane extends Context.Service<
  TestControlPlane,
  TestAccount & {
    readonly dataDir: string
    /** Returns a repository. Dies if no repository in the options has this name. */
    readonly repository: (name: string) => TestRepository
  }
>()("svc/src/testing/TestControlPlane") {
  /** Acts for the person whom the test creates. */
  static readonly actor: Layer.Layer<Actor, ApiError, ControlPlane | TestControlPlane> = Layer.unwrap(
    Effect.map(TestControlPlane, ({ user }) => ControlPlane.user(user.subject))
  )
}

const served = Effect.fnUntraced(function* (folder: string, name: string, files: TestFiles) {
  const path = yield* Path.Path
  const gitdir = path.join(folder, `${name}.git`)
  yield* createRepository({ gitdir })
  const commit = (texts: TestFiles, message = "Change") => commitFiles({ gitdir, files: texts, message })
  yield* commit(files, "Begin")
  const { origin, url } = yield* serveRepository({ gitdir })
  return { name, origin, url, commit }
})

const account = Effect.gen(function* () {
  const administration = yield* Administration
  const { user, workspace } = yield* administration.createAccount({ email: "test@example.com", isOperator: true })
  return { user, workspace, token: yield* administration.createToken(user.subject, { name: "test" }) }
})

/**
 * Starts a control plane in a temporary folder, on a free loopback port, with an account and Git repositories. It executes
 * real Runs, so OpenTofu or Terraform has to be on the PATH. Everything is removed when the scope closes.
 */
export const layer = (
  options: TestOptions = {}
): Layer.Layer<Embedded | TestControlPlane, StartFailed | ApiError | PlatformError.PlatformError> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-test-" })
      const repositories = yield* Effect.forEach(Object.entries(options.repositories ?? {}), ([name, texts]) =>
        served(folder, name, texts)
      )
      const dataDir = path.join(folder, "data")
      const plane = layerServer({
        dataDir,
        listen: "127.0.0.1:0",
        settings: {
          gitAllowOrigins: repositories.map(({ origin }) => origin),
          toolDownload: "off",
          ...options.settings
        }
      })
      const fixtures = Layer.effect(
        TestControlPlane,
        Effect.map(account, (own) => ({
          ...own,
          dataDir,
          repository: (name) => {
            const found = repositories.find((one) => one.name === name)
            if (found === undefined) throw new Error(`The options have no repository ${name}.`)
            return found
          }
        }))
      )
      return fixtures.pipe(Layer.provideMerge(plane))
    })
  ).pipe(Layer.provide(platform))
