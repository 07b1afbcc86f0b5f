import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SvcClient } from "../../client/SvcClient.ts"
import { exitCodes } from "../ExitCodes.ts"
import { CommandFailed, print } from "../Output.ts"
import { onServer } from "./Remote.ts"
import { workspaceFlags } from "./RemoteFlags.ts"
import { terminalText } from "./TerminalText.ts"

const refused = (message: string) =>
  new CommandFailed({ code: "failed_precondition", exitCode: exitCodes.conflict, message })

export const withdrawCommand = Command.make(
  "withdraw",
  {
    ...workspaceFlags,
    approval: Flag.optional(
      Flag.String("approval").pipe(
        Flag.withDescription("Id of the approval; required if the change has several"),
        Flag.withMetavar("id")
      )
    ),
    run: Argument.String("run").pipe(Argument.withDescription("Id of the speculative plan's Run"))
  },
  Effect.fn("run withdraw")((given) =>
    Effect.gen(function* () {
      const { changeApprovals } = yield* SvcClient
      const params = { runId: given.run }
      const all = (yield* changeApprovals.list({ params })).changeApprovals
      const live = all.filter(({ withdrawnAt }) => withdrawnAt === undefined)
      const named = Option.getOrUndefined(given.approval)
      const [first, ...others] = named === undefined ? live : all.filter(({ id }) => id === named)
      if (first === undefined) {
        return yield* refused(
          named === undefined
            ? `Nobody approves the change in ${terminalText(given.run)}, so there is nothing to withdraw.`
            : `The change in ${terminalText(given.run)} has no approval ${terminalText(named)}.`
        )
      }
      if (others.length > 0) {
        const choices = live.map(({ id, subject }) => `${id} by ${subject}`).join(", ")
        return yield* refused(`Several people approve this change. Choose an approval with --approval: ${choices}.`)
      }
      const { changeApproval } = yield* changeApprovals.withdraw({
        params: { ...params, changeApprovalId: first.id }
      })
      yield* print(
        given.json,
        { changeApproval },
        "The approval is withdrawn. It no longer counts for a plan after the merge."
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("Withdraw an approval of the change in a speculative plan"))
