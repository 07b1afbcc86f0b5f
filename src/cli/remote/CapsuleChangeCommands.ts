import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { AutoUpdate } from "../../../schema/records/AutoUpdate.ts"
import { type Capsule, ReleaseReason } from "../../../schema/records/Capsule.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { print } from "../Output.ts"
import { capsuleArgument } from "./CapsuleArgument.ts"
import { confirmFlag, typedName } from "./Confirmation.ts"
import { onServer } from "./Remote.ts"
import { workspaceFlags } from "./RemoteFlags.ts"
import { factsText, rowsText, shortCommit, timeText } from "./Rows.ts"
import { capsuleNamed } from "./Selection.ts"
import { terminalText } from "./TerminalText.ts"

const placeOf = ({ environment, name }: Capsule) => `${terminalText(name)}/${environment}`

export const capsuleRenameCommand = Command.make(
  "rename",
  {
    ...workspaceFlags,
    capsule: capsuleArgument,
    name: Argument.String("name").pipe(Argument.withDescription("The new name"))
  },
  Effect.fn("capsule rename")((given) =>
    Effect.gen(function* () {
      const { capsules } = yield* SvcClient
      const before = yield* capsuleNamed(given.capsule, given.workspace)
      const { capsule } = yield* capsules.update({ params: { capsuleId: before.id }, payload: { name: given.name } })
      yield* print(given.json, { capsule }, `${placeOf(before)} is ${placeOf(capsule)} now.`)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Rename a Capsule; its infrastructure does not change"),
  Command.withExamples([{ command: "svc capsule rename network net", description: "The new name is net" }])
)

/** Creates a command that disables or enables a Capsule. */
const statusCommand = (verb: "disable" | "enable", description: string, example: string) =>
  Command.make(
    verb,
    { ...workspaceFlags, capsule: capsuleArgument },
    Effect.fn(`capsule ${verb}`)((given) =>
      Effect.gen(function* () {
        const { capsules } = yield* SvcClient
        const { id } = yield* capsuleNamed(given.capsule, given.workspace)
        const status = verb === "disable" ? "disabled" : "active"
        const { capsule } = yield* capsules.update({ params: { capsuleId: id }, payload: { status } })
        yield* print(given.json, { capsule }, `${placeOf(capsule)} is ${capsule.status} now.`)
      }).pipe(onServer(given))
    )
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([{ command: `svc capsule ${verb} network`, description: example }])
  )

export const capsuleDisableCommand = statusCommand(
  "disable",
  "Disable a Capsule: it is not planned, applied or checked until it is enabled",
  "No new plans until it is enabled again"
)

export const capsuleEnableCommand = statusCommand(
  "enable",
  "Enable a Capsule that was disabled",
  "Plans are possible again"
)

export const capsuleReleaseCommand = Command.make(
  "release",
  {
    ...workspaceFlags,
    reason: Flag.Literals("reason", ReleaseReason.literals).pipe(
      Flag.withDescription("The fate of its infrastructure")
    ),
    comment: Flag.optional(
      Flag.String("comment").pipe(Flag.withDescription("Comment, shown in the history"), Flag.withMetavar("text"))
    ),
    confirm: confirmFlag,
    capsule: capsuleArgument
  },
  Effect.fn("capsule release")((given) =>
    Effect.gen(function* () {
      const { capsules } = yield* SvcClient
      const { id, name } = yield* capsuleNamed(given.capsule, given.workspace)
      const confirm = yield* typedName(
        name,
        given.confirm,
        "svc stops managing the Capsule for good, and destroys nothing."
      )
      const comment = Option.match(given.comment, { onNone: () => ({}), onSome: (text) => ({ comment: text }) })
      const released = yield* capsules.release({
        params: { capsuleId: id },
        payload: { confirm, reason: given.reason, ...comment }
      })
      const consumers = released.consumerCapsuleIds.length + released.consumersElsewhere
      yield* print(
        given.json,
        released,
        [
          `${placeOf(released.capsule)} is released: svc manages nothing of it any more.`,
          ...(consumers === 0 ? [] : [`Capsules that used its Outputs: ${consumers}. They get no new values.`]),
          ...(released.revokedShareIds.length === 0 ? [] : [`Revoked shares: ${released.revokedShareIds.join(", ")}.`])
        ].join("\n")
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription(
    "Stop managing a Capsule whose infrastructure no longer exists or is managed elsewhere; destroys nothing"
  ),
  Command.withExamples([
    {
      command: "svc capsule release net --reason moved_elsewhere --confirm net",
      description: "After an export, once the copy manages the infrastructure"
    }
  ])
)

const autoUpdateText = ({ apply, enabled, pinnedBy }: AutoUpdate) =>
  factsText([
    ["auto-update", enabled ? "on" : "off"],
    ["applies", enabled ? (apply ? "what needs no review" : "nothing; its plans wait") : undefined],
    [
      "held",
      pinnedBy &&
        `by the rollback ${pinnedBy.runId} since ${timeText(pinnedBy.at)}: ${terminalText(pinnedBy.reason)}; --resume ends that`
    ]
  ])

const mostDecisions = 10

export const capsuleAutoUpdateCommand = Command.make(
  "auto-update",
  {
    ...workspaceFlags,
    apply: Flag.optional(
      Flag.Boolean("apply").pipe(
        Flag.withDescription(
          "Also apply plans that only create or change, without a person; with --no-apply they wait for approval"
        )
      )
    ),
    resume: Flag.Boolean("resume").pipe(
      Flag.withDescription("Follow new commits again after a rollback"),
      Flag.withDefault(false)
    ),
    capsule: capsuleArgument,
    state: Argument.optional(
      Argument.Literals("state", ["on", "off"]).pipe(
        Argument.withDescription(
          "on plans new commits without a person; without an argument and flags, shows the setting"
        )
      )
    )
  },
  Effect.fn("capsule auto-update")((given) =>
    Effect.gen(function* () {
      const { capsules } = yield* SvcClient
      const before = yield* capsuleNamed(given.capsule, given.workspace)
      const params = { capsuleId: before.id }
      const change = {
        ...(Option.isSome(given.state) ? { enabled: given.state.value === "on" } : {}),
        ...(Option.isSome(given.apply) ? { apply: given.apply.value } : {}),
        ...(given.resume ? { resume: true as const } : {})
      }
      const { autoUpdate } =
        Object.keys(change).length === 0
          ? before
          : (yield* capsules.update({ params, payload: { autoUpdate: change } })).capsule
      const { decisions } = yield* capsules.autoUpdateDecisions({ params, query: { limit: mostDecisions } })
      yield* print(
        given.json,
        { autoUpdate, decisions },
        [
          autoUpdateText(autoUpdate),
          ...(decisions.length === 0
            ? []
            : [
                "",
                rowsText(
                  ["when", "commit", "decision", "why", "run"],
                  decisions.map((one) => [
                    timeText(one.createdAt) ?? "",
                    shortCommit(one.resolvedCommit) ?? "",
                    one.decision,
                    terminalText(one.message),
                    one.runId ?? ""
                  ])
                )
              ])
        ].join("\n")
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Turn a Capsule's auto-update on or off, or show it with its newest decisions"),
  Command.withExamples([
    {
      command: "svc capsule auto-update network on --no-apply",
      description: "Plan every new commit, and let people apply the plans"
    },
    { command: "svc capsule auto-update network off", description: "Plan only on request" },
    { command: "svc capsule auto-update network", description: "The setting and its newest decisions" }
  ])
)
