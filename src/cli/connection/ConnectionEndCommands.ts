import { Effect } from "effect"
import { Command } from "effect/cli"
import { SvcClient } from "../../client/SvcClient.ts"
import { print } from "../Output.ts"
import { agreed, yesFlag } from "../remote/Confirmation.ts"
import { onServer } from "../remote/Remote.ts"
import { workspaceFlags } from "../remote/RemoteFlags.ts"
import { connectionNamed } from "../remote/Selection.ts"
import { terminalText } from "../remote/TerminalText.ts"
import { connectionArgument } from "./ConnectionArgument.ts"

const listed = (what: string, ids: ReadonlyArray<string>) => (ids.length === 0 ? [] : [`${what}: ${ids.join(", ")}.`])

export const revokeCommand = Command.make(
  "revoke",
  { ...workspaceFlags, yes: yesFlag, connection: connectionArgument },
  Effect.fn("connection revoke")((given) =>
    Effect.gen(function* () {
      const { connections } = yield* SvcClient
      const { displayName, id } = yield* connectionNamed(given.connection, given.workspace)
      const name = terminalText(displayName)
      yield* agreed(given, `No Run gets the values of ${name} any more, and that cannot be undone.`)
      const revoked = yield* connections.revoke({ params: { connectionId: id }, payload: {} })
      yield* print(
        given.json,
        revoked,
        [
          `${name} is revoked, and its values are deleted. If they leaked, revoke them at the provider too.`,
          ...listed("Plans that are void", revoked.supersededRunIds),
          ...listed("Runs that were asked to stop", revoked.cancelledRunIds),
          ...listed("Applies that continue with its values", revoked.runningApplyIds)
        ].join("\n")
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Revoke a Connection: its values are deleted and its users stop; cannot be undone"),
  Command.withExamples([{ command: "svc connection revoke staging --yes", description: "Without a terminal" }])
)

export const deleteCommand = Command.make(
  "delete",
  { ...workspaceFlags, yes: yesFlag, connection: connectionArgument },
  Effect.fn("connection delete")((given) =>
    Effect.gen(function* () {
      const { connections } = yield* SvcClient
      const { displayName, id } = yield* connectionNamed(given.connection, given.workspace)
      const name = terminalText(displayName)
      yield* agreed(given, `${name} and its values will be removed, and that cannot be undone.`)
      yield* connections.remove({ params: { connectionId: id } })
      yield* print(given.json, { deleted: id }, `${name} is removed.`)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Delete an unused Connection; cannot be undone"),
  Command.withAlias("rm"),
  Command.withExamples([{ command: "svc connection delete staging --yes", description: "Without a terminal" }])
)
