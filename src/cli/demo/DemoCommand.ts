import { Context, Effect, FileSystem, Layer, Option } from "effect"
import { Command } from "effect/cli"
import { SetupLinks } from "../../../actors/access/account/SetupLinks.ts"
import { sampleAddress, sampleFiles, sampleRevisions } from "../../../runner/git/SampleModule.ts"
import { treeDigest } from "../../../runner/sandbox/TreeDigest.ts"
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

/** Digests of the sample's own modules, which may run without isolation because they affect nothing but their state. */
const sampleTrees = sampleRevisions.map(({ module }) => treeDigest(sampleFiles(module)))

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
  const { json: _, ...given } = flags
  const settings = yield* settingsOf(
    {
      ...given,
      log: Option.orElseSome(flags.log, () => "warn"),
      dataDir: Option.some(dataDir),
      listen: Option.some("127.0.0.1:0")
    },
    Option.none()
  )
  yield* report.step("Start a server on a temporary data folder", { dataDir })
  const logs = logging({ level: settings.log, format: settings.logFormat })
  const sandboxSettings = yield* SandboxSettings
  // On a machine without a sandbox, run only the sample's modules.
  const services = yield* Layer.build(controlPlane(settings).pipe(Layer.provideMerge(logs))).pipe(
    Effect.provideService(SandboxSettings, { ...sandboxSettings, trustedTrees: sampleTrees })
  )
  const { url } = Context.get(services, HttpListener)
  const link = yield* Context.get(services, SetupLinks).issueFirst
  if (Option.isNone(link)) return yield* new DemoFailed({ message: "The new server offers no setup link." })
  yield* report.step("Set up the first account and sign in", { url })
  const token = yield* signInForFirstTime(url, link.value.secret)
  yield* playDemo({ url, token }, sampleAddress(url)).pipe(Effect.provide(SvcClient.layer({ baseUrl: url, token })))
}, Effect.scoped)

export const demoCommand = Command.make("demo", { json: jsonFlag, log, runnerIsolation, tool }, (flags) =>
  Effect.provide(perform(flags), DemoReport.layer(flags.json))
).pipe(
  Command.withDescription(
    "Run the main job unattended on a temporary server and repository: install, update, destroy; exits with 0 only if every step succeeds"
  )
)
