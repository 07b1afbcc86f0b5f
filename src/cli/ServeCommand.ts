import { Cause, Console, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlError } from "effect/sql"
import { Command, Flag } from "effect/cli"
import { SetupLinks } from "../../actors/access/account/SetupLinks.ts"
import { SkipDrainGrace } from "../../actors/running/execution/SkipDrainGrace.ts"
import { hasStorageFull, storageFull, storageFullAtStart } from "../../schema/errors/StorageFull.ts"
import { Nodes } from "../../actors/base/node/Nodes.ts"
import { controlPlane } from "../Composition.ts"
import { StorageSpace, storageSpace } from "../database/StorageSpace.ts"
import { ExpectedInstallation } from "../database/FirstStart.ts"
import { BuiltDocs, docsPath } from "../http/DocsFiles.ts"
import { HttpListener } from "../http/HttpListener.ts"
import { HttpSettings } from "../http-kit/HttpSettings.ts"
import { logging } from "../observability/Logging.ts"
import { OperatorListener } from "../observability/OperatorListener.ts"
import { jsonFlag } from "./Output.ts"
import { configFlag, everySettingFlag, settingsOf } from "./SettingFlags.ts"
import { admitStart, reportStart } from "./StartAdmission.ts"
import { secondSignal } from "./StopSignals.ts"

/** It is exported because the type of the command line refers to it. */
export class StartRefused extends Schema.TaggedError<StartRefused>()("StartRefused", {
  code: Schema.String,
  message: Schema.String
}) {}

/** Prints the server's address, and explains how the first person signs in. */
const announce = Effect.fn("announce")(function* (json: boolean) {
  const { address, url } = yield* HttpListener
  const { baseUrl } = yield* HttpSettings
  const operator = yield* OperatorListener
  const link = yield* Effect.flatMap(SetupLinks, (links) => links.issueFirst)
  const setupLink = Option.map(link, ({ secret }) => `${baseUrl}/setup#${Redacted.value(secret)}`)
  if (json) {
    const announced = { ...address, url, baseUrl, operatorUrl: operator.url, setupLink: Option.getOrNull(setupLink) }
    return yield* Console.log(JSON.stringify(announced))
  }
  yield* Console.log(`svc is ready at ${baseUrl}`)
  if ((yield* BuiltDocs) !== undefined) yield* Console.log(`Documentation: ${baseUrl}${docsPath}`)
  if (Option.isSome(setupLink)) {
    yield* Console.log(`First sign-in, usable once within 30 minutes: ${setupLink.value}`)
  }
})

/**
 * Raised if other servers that use the database have marked this server as gone and settled its Runs. Exported because the
 * type of the command line refers to it.
 */
export class ServerExpelled extends Schema.TaggedError<ServerExpelled>()("ServerExpelled", {
  message: Schema.String
}) {}

/** Ends the process if other servers have marked it as gone, so that its supervisor restarts it under a new name. */
const untilExpelled = Effect.gen(function* () {
  yield* (yield* Nodes).expelled
  return yield* new ServerExpelled({
    message:
      "Other servers have counted this one as gone, because it did not reach the database in time. Start it again."
  })
})

/**
 * If a full disk prevents startup, fails with this reason and the remedy. A separate check is needed because some steps do
 * not report that the disk is the cause. For example, SQLite reports only that it cannot open its file.
 */
const orFullDisk = Effect.fnUntraced(function* <E>(cause: Cause.Cause<E>, dataDir: string) {
  const failure = cause.reasons.find(Cause.isFailReason)?.error
  const isUnexplained = !Cause.hasInterruptsOnly(cause) && (failure === undefined || SqlError.isSqlError(failure))
  const { isFull } = yield* Effect.provide(StorageSpace, storageSpace(dataDir))
  return hasStorageFull(cause) || (isUnexplained && (yield* isFull))
    ? yield* new StartRefused({ code: storageFull.code, message: storageFullAtStart })
    : yield* Effect.failCause(cause)
})

export const serveCommand = Command.make(
  "serve",
  {
    settings: everySettingFlag,
    config: configFlag,
    // This is available only as a flag. If it were a setting, it would remain in effect, and if the database were lost
    // later, the server would mistake this for a new installation.
    isNew: Flag.Boolean("new").pipe(
      Flag.withDescription(
        "Begin a new installation in a folder whose database was removed; moves the other files aside"
      ),
      Flag.withDefault(false)
    ),
    json: jsonFlag
  },
  Effect.fn("serve")(function* ({ config, isNew, json, settings: flags }) {
    const settings = yield* settingsOf(flags, config)
    const logs = logging({ level: settings.log, format: settings.logFormat })
    yield* Effect.provide(admitStart(settings), logs)
    return yield* announce(json)
      .pipe(Effect.andThen(reportStart(settings)), Effect.andThen(untilExpelled))
      .pipe(
        Effect.provide(controlPlane(settings).pipe(Layer.provideMerge(logs))),
        Effect.provideService(ExpectedInstallation, { isNew, id: undefined }),
        Effect.provideService(SkipDrainGrace, yield* secondSignal),
        Effect.catchCause((cause) => orFullDisk(cause, settings.dataDir))
      )
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Serve the API and the dashboard. Every setting is a flag, an environment variable or a key of the settings file, in that order"
  )
)
