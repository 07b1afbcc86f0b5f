import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import type { KeepReason } from "../../actors/upkeep/retention/RetainedKind.ts"
import { OperatorRetention } from "../operator/Operator.ts"
import type { RetentionReport } from "../operator/RetentionCommands.ts"
import { jsonFlag, print } from "./Output.ts"
import { dataFlags, settingFlags, settingsOf } from "./SettingFlags.ts"

/** Texts for the reasons to keep a record. */
const words: Readonly<Record<KeepReason, string>> = {
  open: "not over yet",
  open_plan: "a plan that may still be applied",
  newest: "the newest of its kind",
  log: "its log is kept",
  state: "a StateVersion names it",
  current_state: "the present state of a Capsule",
  rollback_target: "a rollback may go back to it",
  left_over_state: "a left-over state names it",
  backup: "a backup names it",
  living_capsule: "a living Capsule needs it",
  lane: "a lane points at it",
  decision: "a decision of auto-update names it",
  report: "a compatibility report names it",
  snapshot: "a source snapshot names it",
  run: "a Run names it",
  apply: "the apply of the plan is kept",
  pin: "a Capsule is pinned to it",
  run_group: "its group of Runs is open",
  install_plan: "an install plan names it",
  revision_plan: "a plan of another revision names it",
  interface: "an Interface is still to be made",
  connection: "it holds a Connection",
  receipt: "a request may be repeated"
}

const lineOf = (item: RetentionReport["removed"][number]): string => {
  if ("events" in item) return `${item.workspace ?? "installation"}  audit events  ${item.events} events`
  return "runs" in item
    ? `${item.workspace}  logs  ${item.runs} Runs  ${item.bytes} bytes`
    : `${item.workspace}  ${item.kind.replaceAll("_", " ")}  ${item.records}  ${item.bytes} bytes`
}

const formatted = ({ kept, removed }: RetentionReport, isDryRun: boolean): string =>
  [
    ...(removed.length === 0 ? ["Nothing goes that is older than it is kept."] : removed.map(lineOf)),
    ...kept.map(({ kind, reason, records }) => `stays: ${kind.replaceAll("_", " ")}  ${records}  ${words[reason]}`),
    ...(removed.length === 0
      ? []
      : [isDryRun ? "Nothing was removed. Repeat the command without --dry-run to remove it." : "Removed."])
  ].join("\n")

/** Immediately removes all records that are older than the server's retention periods. */
export const pruneCommand = Command.make(
  "prune",
  {
    ...dataFlags,
    keepLogs: settingFlags.keepLogs,
    keepEvents: settingFlags.keepEvents,
    keepRuns: settingFlags.keepRuns,
    keepStates: settingFlags.keepStates,
    keepSnapshots: settingFlags.keepSnapshots,
    keepPlans: settingFlags.keepPlans,
    keepCapsuleBackups: settingFlags.keepCapsuleBackups,
    keepAudit: settingFlags.keepAudit,
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withDescription("Only list what would be removed, by kind and Workspace"),
      Flag.withDefault(false)
    ),
    json: jsonFlag
  },
  Effect.fn("prune")(function* ({ config, dryRun, json, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const report = yield* Effect.flatMap(OperatorRetention, ({ prune, survey }) => (dryRun ? survey : prune)).pipe(
      Effect.provide(OperatorRetention.layer(settings))
    )
    yield* print(json, { dryRun, ...report }, formatted(report, dryRun))
  })
).pipe(
  Command.withDescription(
    "Remove records past their retention period immediately; a running server does this automatically"
  )
)
