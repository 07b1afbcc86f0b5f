import { ConfigProvider, Context, Effect, FileSystem, Layer, Option, type Redacted } from "effect"
import { AccessTokens } from "../../actors/account/AccessTokens.ts"
import { Users } from "../../actors/account/Users.ts"
import { serviceContext } from "../../actors/Command.ts"
import { Workspaces } from "../../actors/workspace/Workspaces.ts"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import { controlPlaneOf } from "../Composition.ts"
import { listener } from "../composition/Face.ts"
import { machine } from "../composition/Machine.ts"
import { platform } from "../composition/Platform.ts"
import * as Database from "../database/Database.ts"
import { HttpListener } from "../http/HttpListener.ts"
import { loadSettings } from "../settings/Settings.ts"

/** A person of a test, with a token and the Workspace that everybody has. */
export interface TestAccount {
  readonly subject: string
  readonly token: Redacted.Redacted
  readonly workspaceId: string
}

/** Settings by the names of the settings file. */
export type TestSettings = Readonly<Record<string, string>>

/**
 * A whole control plane for one test: on a free port of the loopback, in a folder that goes with the Scope. It reads nothing of the
 * environment, and its log is silent below errors.
 */
export class TestPlane extends Context.Service<
  TestPlane,
  {
    readonly url: string
    readonly dataDir: string
    readonly createAccount: (email: string) => Effect.Effect<TestAccount, ApiError>
  }
>()("svc/testing/TestPlane") {
  static readonly layer = (given: TestSettings = {}) =>
    Layer.effect(
      TestPlane,
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const dataDir = yield* files.makeTempDirectoryScoped({ prefix: "svc-test-" })
        const flags = { dataDir, listen: "127.0.0.1:0", log: "error", toolDownload: "off", ...given }
        const settings = yield* loadSettings(new Map(Object.entries(flags)), Option.none()).pipe(
          Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({}))
        )
        const services = yield* Layer.build(
          Layer.fresh(
            controlPlaneOf(settings, {
              http: listener(settings),
              database: Database.layer,
              runner: machine(settings)
            })
          )
        )
        const users = Context.get(services, Users)
        const tokens = Context.get(services, AccessTokens)
        const workspaces = Context.get(services, Workspaces)
        return {
          url: Context.get(services, HttpListener).url,
          dataDir,
          createAccount: Effect.fn("TestPlane.createAccount")(function* (email) {
            const { subject } = yield* users.create(serviceContext, { email, isOperator: false })
            yield* workspaces.ensurePersonal(serviceContext, subject)
            const [workspace] = (yield* workspaces.list(subject, { limit: 1 })).workspaces
            if (workspace === undefined) return yield* Effect.die(new Error(`${subject} has no Workspace.`))
            const { secret } = yield* tokens.create(serviceContext, subject, {
              name: "test",
              scopes: ["read", "write"]
            })
            return { subject, token: secret, workspaceId: workspace.id }
          })
        }
      })
    ).pipe(Layer.provide(platform))
}
