import { Console, Effect, Layer, Option, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { SetupLinks } from "../../actors/account/SetupLinks.ts"
import { SkipDrainGrace } from "../../actors/execution/SkipDrainGrace.ts"
import { isKeyBesideData, keyBesideData, keyBesideDataRemedy } from "../backup/KeyPlace.ts"
import { controlPlane } from "../Composition.ts"
import { ExpectedInstallation } from "../database/FirstStart.ts"
import { HttpListener } from "../http/HttpListener.ts"
import { HttpSettings } from "../http/HttpSettings.ts"
import { Sandbox } from "../../runner/sandbox/Sandbox.ts"
import { Toolchain } from "../../runner/toolchain/Toolchain.ts"
import { describeLimits, describeNetwork, describeTool } from "./doctor/MachineFindings.ts"
import { logging } from "../observability/Logging.ts"
import { OperatorListener } from "../observability/OperatorListener.ts"
import { describeMisspelt, misspeltSettings } from "../settings/MisspeltSettings.ts"
import { isPlainBeyondLoopback, plainHttpWarning, type Settings } from "../settings/Settings.ts"
import { jsonFlag } from "./Output.ts"
import { configFlag, everySettingFlag, settingsOf } from "./SettingFlags.ts"
import { admitStart } from "./StartAdmission.ts"
import { secondSignal } from "./StopSignals.ts"

/** Prints where the server is, and how the first person gets in. */
const announce = Effect.fn("announce")(function* (json: boolean) {
  const { address, url } = yield* HttpListener
  const { baseUrl } = yield* HttpSettings
  const operator = yield* OperatorListener
  const link = yield* Effect.flatMap(SetupLinks, (links) => links.issueFirst)
  const setupLink = Option.map(link, ({ secret }) => `${baseUrl}/setup#${Redacted.value(secret)}`)
  if (json) {
    const told = { ...address, url, baseUrl, operatorUrl: operator.url, setupLink: Option.getOrNull(setupLink) }
    return yield* Console.log(JSON.stringify(told))
  }
  yield* Console.log(`svc is ready at ${baseUrl}`)
  if (Option.isSome(setupLink)) {
    yield* Console.log(`First sign-in, usable once within 30 minutes: ${setupLink.value}`)
  }
})

/** Finds the tool before the first Run needs it; a download begins here. */
const tellTool = Effect.flatMap(Toolchain, (tools) =>
  Effect.matchEffect(tools.resolve(), {
    onSuccess: (tool) => Effect.logInfo(`Runs are executed with ${describeTool(tool)}`),
    onFailure: (error) => Effect.logWarning(`No Run can be executed: ${error.message} ${error.remedy}`)
  })
)

/** How module code is isolated: an operator who runs other people's modules must know when it is not, or when nothing runs. */
const tellSandbox = Effect.flatMap(Sandbox, ({ status: { accepted, level, reason, remedy } }) => {
  if (!accepted) return Effect.logWarning(`Runs are refused: ${reason} ${remedy ?? ""}`.trim())
  if (level === "process") return Effect.logWarning(`Runs are not isolated: ${reason} ${remedy ?? ""}`.trim())
  return Effect.logInfo(`Runs are isolated at the level ${level}: ${reason}`)
})

const warnOfPlainHttp = (settings: Settings) =>
  isPlainBeyondLoopback(settings) ? Effect.logWarning(plainHttpWarning) : Effect.void

const warnOfKeyPlace = (settings: Settings) =>
  Effect.flatMap(isKeyBesideData(settings), (isBeside) =>
    isBeside ? Effect.logWarning(`${keyBesideData} ${keyBesideDataRemedy}`) : Effect.void
  )

/** The network of Runs: probed here, so that the first Run does not wait for it. */
const tellNetwork = Effect.gen(function* () {
  const { network, status } = yield* Sandbox
  yield* Effect.logInfo(`Limits: ${describeLimits(status)}`)
  const found = yield* network
  const told = `Network of Runs: ${describeNetwork(found)} ${found.remedy ?? ""}`.trim()
  yield* found.reach === "isolated" ? Effect.logInfo(told) : Effect.logWarning(told)
})

const tellMisspelt = Effect.flatMap(misspeltSettings, (found) =>
  Effect.forEach(found, (misspelt) => Effect.logWarning(describeMisspelt(misspelt)), { discard: true })
)

export const serveCommand = Command.make(
  "serve",
  {
    settings: everySettingFlag,
    config: configFlag,
    // Only a flag: a setting would persist, and the next lost database would look like a new installation.
    isNew: Flag.Boolean("new").pipe(
      Flag.withDescription("Begin a new installation in a folder whose database is gone; the remains are moved aside"),
      Flag.withDefault(false)
    ),
    json: jsonFlag
  },
  Effect.fn("serve")(function* ({ config, isNew, json, settings: flags }) {
    const settings = yield* settingsOf(flags, config)
    const logs = logging({ level: settings.log, format: settings.logFormat })
    yield* Effect.provide(admitStart(settings), logs)
    return yield* announce(json)
      .pipe(
        Effect.andThen(
          Effect.all(
            [tellMisspelt, warnOfPlainHttp(settings), warnOfKeyPlace(settings), tellSandbox, tellNetwork, tellTool],
            { discard: true }
          )
        ),
        Effect.andThen(Effect.never)
      )
      .pipe(
        Effect.provide(controlPlane(settings).pipe(Layer.provideMerge(logs))),
        Effect.provideService(ExpectedInstallation, { isNew, id: undefined }),
        Effect.provideService(SkipDrainGrace, yield* secondSignal)
      )
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Serve the API and the dashboard. Every setting is a flag, an environment variable or a key of the settings file, in that order"
  )
)
