import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Backup } from "../../../schema/records/Backup.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { print } from "../Output.ts"
import { capsuleArgument } from "./CapsuleArgument.ts"
import { allPages } from "./Pages.ts"
import { changeFlags, planned } from "./PlanCommands.ts"
import { onServer } from "./Remote.ts"
import { idempotencyKeyFlag, keyHeaders, workspaceFlags } from "./RemoteFlags.ts"
import { rowsText, timeText } from "./Rows.ts"
import { capsuleNamed, capsulesOf, workspaceNamed } from "./Selection.ts"
import { terminalText } from "./TerminalText.ts"

const backupsOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  const { workspaces } = yield* SvcClient
  return yield* allPages((query) =>
    Effect.map(workspaces.backups({ params: { workspaceId }, query }), ({ backups: items, nextCursor }) => ({
      items,
      nextCursor
    }))
  )
})

const shown = (backups: ReadonlyArray<Backup>, nameOf: (backup: Backup) => string) =>
  backups.length === 0
    ? "There is no backup."
    : rowsText(
        ["id", "of", "bytes", "made", "run"],
        backups.map((one) => [
          one.id,
          terminalText(nameOf(one)),
          String(one.sizeBytes),
          timeText(one.createdAt) ?? "",
          one.createdByRunId
        ])
      )

const madeText = ({ id }: Backup) => `The backup ${id} is kept at the server, sealed.`

const capsuleListCommand = Command.make(
  "list",
  { ...workspaceFlags, capsule: capsuleArgument },
  Effect.fn("capsule backup list")((given) =>
    Effect.gen(function* () {
      const { id, name, workspaceId } = yield* capsuleNamed(given.capsule, given.workspace)
      const backups = (yield* backupsOf(workspaceId)).filter(({ capsuleId }) => capsuleId === id)
      yield* print(
        given.json,
        { backups },
        shown(backups, () => name)
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("List the backups of one Capsule"),
  Command.withAlias("ls"),
  Command.withExamples([{ command: "svc capsule backup list network", description: "Newest first" }])
)

const capsuleCreateCommand = Command.make(
  "create",
  { ...workspaceFlags, capsule: capsuleArgument },
  Effect.fn("capsule backup create")((given) =>
    Effect.gen(function* () {
      const { capsules } = yield* SvcClient
      const { id } = yield* capsuleNamed(given.capsule, given.workspace)
      const { backup } = yield* capsules.backup({ params: { capsuleId: id }, payload: {} })
      yield* print(given.json, { backup }, madeText(backup))
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Back up the state, configuration and history of a Capsule"),
  Command.withExamples([{ command: "svc capsule backup create network", description: "Before a risky change" }])
)

export const capsuleBackupCommand = Command.make("backup").pipe(
  Command.withDescription("Backups of one Capsule"),
  Command.withSubcommands([capsuleListCommand, capsuleCreateCommand])
)

const listCommand = Command.make(
  "list",
  workspaceFlags,
  Effect.fn("workspace backup list")((given) =>
    Effect.gen(function* () {
      const { handle, id } = yield* workspaceNamed(given.workspace)
      const backups = yield* backupsOf(id)
      if (given.json) return yield* print(true, { backups }, "")
      const names = new Map((yield* capsulesOf(id)).map((one) => [one.id, `${one.name}/${one.environment}`]))
      yield* print(
        false,
        backups,
        shown(backups, ({ capsuleId }) =>
          capsuleId === undefined ? `all of ${handle}` : (names.get(capsuleId) ?? capsuleId)
        )
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("List the backups of a Workspace and of its Capsules"),
  Command.withAlias("ls"),
  Command.withExamples([{ command: "svc workspace backup list", description: "Newest first" }])
)

const createCommand = Command.make(
  "create",
  workspaceFlags,
  Effect.fn("workspace backup create")((given) =>
    Effect.gen(function* () {
      const { workspaces } = yield* SvcClient
      const { id } = yield* workspaceNamed(given.workspace)
      const { backup } = yield* workspaces.createBackup({ params: { workspaceId: id } })
      yield* print(given.json, { backup }, madeText(backup))
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Back up all Capsules of a Workspace"),
  Command.withExamples([{ command: "svc workspace backup create", description: "Of the selected Workspace" }])
)

const restorePlanCommand = Command.make(
  "restore-plan",
  {
    ...changeFlags,
    idempotencyKey: idempotencyKeyFlag,
    capsule: Flag.optional(
      Flag.String("capsule").pipe(
        Flag.withDescription("The Capsule to restore; required for a backup of a whole Workspace"),
        Flag.withMetavar("name")
      )
    ),
    backup: Argument.String("backup").pipe(Argument.withDescription("Id of the backup"))
  },
  Effect.fn("workspace backup restore-plan")((given) =>
    Effect.gen(function* () {
      const { backups } = yield* SvcClient
      const payload = Option.isSome(given.capsule)
        ? { capsuleId: (yield* capsuleNamed(given.capsule.value, given.workspace)).id }
        : {}
      const headers = yield* keyHeaders(given.idempotencyKey)
      const { run } = yield* backups.restorePlan({ params: { backupId: given.backup }, headers, payload })
      yield* planned(run, given)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription(
    "Plan to restore a Capsule from a backup; nothing is restored until the plan is approved and applied"
  ),
  Command.withExamples([
    {
      command: "svc workspace backup restore-plan bkp_... --capsule network",
      description: "One Capsule of a Workspace"
    }
  ])
)

export const workspaceBackupCommand = Command.make("backup").pipe(
  Command.withDescription("Backups of a Workspace and its Capsules"),
  Command.withSubcommands([listCommand, createCommand, restorePlanCommand])
)
