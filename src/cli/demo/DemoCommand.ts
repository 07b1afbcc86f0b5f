import { Context, Effect, FileSystem, Layer, Option } from "effect"
import { Command } from "effect/cli"
import { SetupLinks } from "../../../actors/access/account/SetupLinks.ts"
import { SandboxSettings } from "../../../runner/sandbox/SandboxSettings.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { controlPlane } from "../../Composition.ts"
import { HttpListener } from "../../http/HttpListener.ts"
import { logging } from "../../observability/Logging.ts"
import { jsonFlag } from "../Output.ts"
import { settingFlags, settingsOf } from "../SettingFlags.ts"
import { DemoFailed } from "./DemoFailed.ts"
import { DemoReport } from "./DemoReport.ts"
import { playDemo } from "./DemoScript.ts"
import { signInForFirstTime } from "./DemoSession.ts"

const { log, runnerIsolation, tool } = settingFlags

const perform = Effect.fn("demo")(function* (flags: {
  readonly json: boolean
  readonly log: Option.Option<string>
  readonly runnerIsolation: Option.Option<string>
  readonly tool: Option.Option<string>
}) {
  const fileSystem = yield* FileSystem.FileSystem
  const report = yield* DemoReport
  const dataDir = yield* fileSystem.makeTempDirectoryScoped({ prefix: "svc-demo-" })
  // Only the demo serves Git, so it loads the required library here.
  const { demoRepository, demoTrees } = yield* Effect.promise(() => import("./DemoRepository.ts"))
  const repository = yield* demoRepository
  const { json: _, ...given } = flags
  const settings = yield* settingsOf(
    {
      ...given,
      log: Option.orElseSome(flags.log, () => "warn"),
      dataDir: Option.some(dataDir),
      listen: Option.some("127.0.0.1:0"),
      gitAllowOrigins: Option.some(repository.origin)
    },
    Option.none()
  )
  yield* report.step("Start a server on a temporary data folder", { dataDir })
  const logs = logging({ level: settings.log, format: settings.logFormat })
  const sandboxSettings = yield* SandboxSettings
  // On a machine without any sandbox, the demo runs only this module.
  const services = yield* Layer.build(controlPlane(settings).pipe(Layer.provideMerge(logs))).pipe(
    Effect.provideService(SandboxSettings, { ...sandboxSettings, trustedTrees: demoTrees })
  )
  const { url } = Context.get(services, HttpListener)
  const link = yield* Context.get(services, SetupLinks).issueFirst
  if (Option.isNone(link)) return yield* new DemoFailed({ message: "The new server offers no setup link." })
  yield* report.step("Set up the first account and sign in", { url })
  const token = yield* signInForFirstTime(url, link.value.secret)
  yield* playDemo({ url, token }, repository).pipe(Effect.provide(SvcClient.layer({ baseUrl: url, token })))
}, Effect.scoped)

export const demoCommand = Command.make("demo", { json: jsonFlag, log, runnerIsolation, tool }, (flags) =>
  Effect.provide(perform(flags), DemoReport.layer(flags.json))
).pipe(
  Command.withDescription(
    "Do the whole main job unattended against a temporary server and repository: install, update, destroy; 0 only if all was as expected"
  )
)
