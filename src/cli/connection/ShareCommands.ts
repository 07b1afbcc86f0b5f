import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import type { OutputShare } from "../../../schema/records/OutputShare.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { print } from "../Output.ts"
import { capsuleArgument } from "../remote/CapsuleArgument.ts"
import { agreed, yesFlag } from "../remote/Confirmation.ts"
import { allPages } from "../remote/Pages.ts"
import { onServer } from "../remote/Remote.ts"
import { workspaceFlags } from "../remote/RemoteFlags.ts"
import { rowsText } from "../remote/Rows.ts"
import { capsuleNamed, onlyNamed, workspaceNamed } from "../remote/Selection.ts"
import { terminalText } from "../remote/TerminalText.ts"

const outputsText = ({ outputs }: OutputShare) =>
  outputs
    .map(({ alias, name }) => terminalText(alias === undefined || alias === name ? name : `${name} as ${alias}`))
    .join(", ")

const sharesText = (shares: ReadonlyArray<OutputShare>) =>
  rowsText(
    ["status", "outputs", "from", "to", "capsule", "id"],
    shares.map((share) => [
      share.status,
      outputsText(share),
      share.fromWorkspaceId,
      share.toWorkspaceId,
      share.producerCapsuleId,
      share.id
    ])
  )

const shareArgument = Argument.String("share").pipe(Argument.withDescription("Id of the share, from `svc share list`"))

const sharesOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  const { connections } = yield* SvcClient
  return yield* allPages((query) =>
    Effect.map(
      connections.outputShares({ query: { ...query, workspaceId } }),
      ({ nextCursor, outputShares: items }) => ({ items, nextCursor })
    )
  )
})

const listCommand = Command.make(
  "list",
  workspaceFlags,
  Effect.fn("share list")((given) =>
    Effect.gen(function* () {
      const { handle, id } = yield* workspaceNamed(given.workspace)
      const outputShares = yield* sharesOf(id)
      yield* print(
        given.json,
        { outputShares },
        outputShares.length === 0 ? `${handle} shares no Output, and gets none.` : sharesText(outputShares)
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("List the Outputs that a Workspace shares with other Workspaces or receives from them"),
  Command.withAlias("ls"),
  Command.withExamples([{ command: "svc share list", description: "In both directions" }])
)

/** Finds a Workspace by its id, or by its handle if the caller is a member of it. */
const otherWorkspace = Effect.fnUntraced(function* (named: string) {
  return named.startsWith("ws_") ? WorkspaceId.make(named) : (yield* workspaceNamed(Option.some(named))).id
})

const sharedOutput = (given: string) => {
  const [name = "", alias] = given.split("=")
  return alias === undefined ? { name } : { name, alias }
}

const createCommand = Command.make(
  "create",
  {
    ...workspaceFlags,
    to: Flag.String("to").pipe(
      Flag.withDescription("The receiving Workspace: its id, or its handle if you are a member"),
      Flag.withMetavar("workspace")
    ),
    output: Flag.String("output").pipe(
      Flag.withDescription("An Output; =ALIAS shares it under another name; may be repeated"),
      Flag.withMetavar("name"),
      Flag.atLeast(1)
    ),
    capsule: capsuleArgument
  },
  Effect.fn("share create")((given) =>
    Effect.gen(function* () {
      const { connections } = yield* SvcClient
      const { id, workspaceId } = yield* capsuleNamed(given.capsule, given.workspace)
      const { outputShare } = yield* connections.createOutputShare({
        payload: {
          fromWorkspaceId: workspaceId,
          toWorkspaceId: yield* otherWorkspace(given.to),
          producerCapsuleId: id,
          outputs: given.output.map(sharedOutput)
        }
      })
      yield* print(
        given.json,
        { outputShare },
        `${sharesText([outputShare])}\nAn admin of the other Workspace lets it begin with \`svc share approve ${outputShare.id}\`.`
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Offer Outputs of a Capsule to another Workspace"),
  Command.withExamples([
    {
      command: "svc share create network --to beta --output greeting",
      description: "The share begins when beta approves it"
    }
  ])
)

const approveCommand = Command.make(
  "approve",
  { ...workspaceFlags, share: shareArgument },
  Effect.fn("share approve")((given) =>
    Effect.gen(function* () {
      const { connections } = yield* SvcClient
      const { outputShare } = yield* connections.approveOutputShare({ params: { shareId: given.share }, payload: {} })
      yield* print(
        given.json,
        { outputShare },
        `${outputShare.id} is ${outputShare.status}: ${outputsText(outputShare)}.`
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Accept Outputs that another Workspace offers"),
  Command.withExamples([
    { command: "svc share approve oshare_...", description: "As an admin of the receiving Workspace" }
  ])
)

const revokeCommand = Command.make(
  "revoke",
  { ...workspaceFlags, yes: yesFlag, share: shareArgument },
  Effect.fn("share revoke")((given) =>
    Effect.gen(function* () {
      const { connections } = yield* SvcClient
      const { id: workspaceId } = yield* workspaceNamed(given.workspace)
      const words = { what: "share", several: "shares", list: "svc share list" }
      yield* onlyNamed(yield* sharesOf(workspaceId), ({ id }) => id, given.share, words)
      yield* agreed(given, "Capsules that use these Outputs cannot be planned until they get the values elsewhere.")
      const { outputShare } = yield* connections.revokeOutputShare({ params: { shareId: given.share }, payload: {} })
      yield* print(given.json, { outputShare }, `${outputShare.id} is ${outputShare.status}.`)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Revoke a share, as either Workspace"),
  Command.withExamples([{ command: "svc share revoke oshare_... --yes", description: "Without a terminal" }])
)

export const shareCommand = Command.make("share").pipe(
  Command.withDescription("Outputs shared between Workspaces"),
  Command.withSubcommands([listCommand, createCommand, approveCommand, revokeCommand])
)
