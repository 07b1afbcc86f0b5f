import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { RestoredRules } from "../../actors/access/approval/RestoredRules.ts"
import type { ReviewItem } from "../../actors/base/RestoredRecords.ts"
import type { ReviewDecision } from "../../actors/upkeep/restore/RestoreReview.ts"
import { OperatorRestore } from "../operator/Operator.ts"
import { CommandFailed, jsonFlag, misuse, print } from "./Output.ts"
import { dataFlags, settingsOf } from "./SettingFlags.ts"

const kinds = {
  membership: "membership",
  connection: "Connection",
  output_share: "share",
  agent: "agent",
  agent_pool_assignment: "pool",
  agent_pool_provision: "credentials"
} as const

const earlierApplies =
  "An agent may still execute an apply that the backup does not have. So no apply starts, of any pool or of none, before the longest lease of all pools is over, counted from the restore. If a lease was made longer after the backup, wait that long yourself before you apply."

/** Formats the records that are waiting for review, one per line, with the next steps. */
export const formatReview = (items: ReadonlyArray<ReviewItem>): string =>
  items.length === 0
    ? "Nothing waits for a confirmation."
    : [
        "These may have been ended after the backup, and have no effect until you confirm them:",
        ...items.map(
          ({ changedAt, description, id, kind, workspace }) =>
            `  ${id}  ${kinds[kind]}  ${workspace ?? "operator"}  ${description}  (${changedAt})`
        ),
        "Confirm them with `svc admin restore-review confirm ID...` or `--all`; `remove` ends them instead.",
        ...(items.some(({ kind }) => kind.startsWith("agent")) ? [earlierApplies] : [])
      ].join("\n")

const counted = (count: number, noun: string): ReadonlyArray<string> =>
  count === 0 ? [] : [`${count} ${noun}${count === 1 ? "" : "s"}`]

/** Formats the Workspaces, one per line. */
const formatRules = (rules: ReadonlyArray<RestoredRules>): string =>
  rules.length === 0
    ? ""
    : [
        "",
        "Approval rules and teams are as the backup has them. Ask the owners to look at them:",
        ...rules.map(
          ({ approvalRules, teams, workspace }) =>
            `  ${workspace}  ${[...counted(approvalRules, "approval rule"), ...counted(teams, "team")].join(", ")}`
        )
      ].join("\n")

const done = (decision: ReviewDecision, items: ReadonlyArray<ReviewItem>): string =>
  items.length === 0
    ? "Nothing waited."
    : items.map(({ description, id }) => `${decision} ${id}  ${description}`).join("\n")

const decide = (name: string, decision: ReviewDecision, description: string) =>
  Command.make(
    name,
    {
      ...dataFlags,
      all: Flag.Boolean("all").pipe(Flag.withDescription("All waiting records"), Flag.withDefault(false)),
      ids: Argument.String("id").pipe(
        Argument.withDescription(
          "Records: mbr_..., conn_..., oshare_..., agt_..., POOL/WORKSPACE, POOL/NAME/WORKSPACE"
        ),
        Argument.variadic({ min: 0 })
      ),
      json: jsonFlag
    },
    Effect.fn(`restoreReview.${name}`)(function* ({ all, config, ids, json, ...flags }) {
      if (all === ids.length > 0) {
        return yield* new CommandFailed({ ...misuse, message: "Name the records, or give --all: one of the two." })
      }
      const settings = yield* settingsOf(flags, config)
      const items = yield* Effect.flatMap(OperatorRestore, (restore) =>
        restore.decide({ decision, ids: all ? Option.none() : Option.some(ids) })
      ).pipe(Effect.provide(OperatorRestore.layer(settings)))
      yield* print(json, { decision, records: items }, done(decision, items))
    })
  ).pipe(Command.withDescription(description))

/** Shows, confirms or removes restored records that await confirmation. */
export const restoreReviewCommand = Command.make(
  "restore-review",
  { ...dataFlags, json: jsonFlag },
  Effect.fn("restoreReview")(function* ({ config, json, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const { review, rules } = yield* Effect.flatMap(OperatorRestore, ({ list, rules: listRules }) =>
      Effect.all({ review: list, rules: listRules })
    ).pipe(Effect.provide(OperatorRestore.layer(settings)))
    yield* print(json, { review, rules }, `${formatReview(review)}${formatRules(rules)}`)
  })
).pipe(
  Command.withDescription(
    "Restored memberships, Connections, shares, agents and pool assignments that await confirmation"
  ),
  Command.withSubcommands([
    decide("confirm", "confirmed", "Confirm restored records"),
    decide(
      "remove",
      "removed",
      "Remove restored records: suspend the membership, revoke the Connection, share or agent, withdraw the pool"
    )
  ])
)
