import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { OperatorRetention } from "../operator/Operator.ts"
import type { RemovedByRetention } from "../operator/RetentionCommands.ts"
import { jsonFlag, print } from "./Output.ts"
import { dataFlags, settingFlags, settingsOf } from "./SettingFlags.ts"

const formatted = (items: RemovedByRetention, isDryRun: boolean): string =>
  items.length === 0
    ? "Nothing is older than it is kept."
    : [
        ...items.map(({ bytes, kind, runs, workspace }) => `${workspace}  ${kind}  ${runs} Runs  ${bytes} bytes`),
        isDryRun ? "Nothing was removed. Repeat the command without --dry-run to remove it." : "Removed."
      ].join("\n")

/** Removes what is older than the server keeps it, at once. */
export const pruneCommand = Command.make(
  "prune",
  {
    ...dataFlags,
    keepLogs: settingFlags.keepLogs,
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withDescription("Only say what would go, by kind and Workspace"),
      Flag.withDefault(false)
    ),
    json: jsonFlag
  },
  Effect.fn("prune")(function* ({ config, dryRun, json, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const removed = yield* Effect.flatMap(OperatorRetention, ({ prune, survey }) => (dryRun ? survey : prune)).pipe(
      Effect.provide(OperatorRetention.layer(settings))
    )
    yield* print(json, { dryRun, removed }, formatted(removed, dryRun))
  })
).pipe(Command.withDescription("Remove what is older than it is kept, at once; a running server does it by itself"))
