import { Rpc } from "effect/rpc"
import { ApiError } from "../errors/ApiError.ts"
import { PullRequestId } from "../records/Ids.ts"
import { CommitId } from "../records/Primitives.ts"
import { PullRequest } from "../records/PullRequest.ts"
import { CommandContext, commandsOf } from "./Command.ts"

/** Commands on one pull request. */
export const PullRequestCommands = commandsOf(
  "PullRequest",
  PullRequestId,
  /** Takes every step that is due: fetches the head, judges it, and orders or cancels its plans. */
  Rpc.make("Advance"),
  /** Allows exactly this commit to be planned, whatever the Source's rule. Fails with `guard_conflict` if the head has moved. */
  Rpc.make("Plan", {
    payload: { context: CommandContext, commit: CommitId },
    success: PullRequest,
    error: ApiError
  })
)
