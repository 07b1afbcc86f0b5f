import { Rpc } from "effect/rpc"
import { ApiError } from "../errors/ApiError.ts"
import { PullRequestId } from "../records/Ids.ts"
import { CommitId } from "../records/Primitives.ts"
import { PullRequest } from "../records/PullRequest.ts"
import { CommandContext, commandsOf } from "./Command.ts"

/** Commands for one pull request. */
export const PullRequestCommands = commandsOf(
  "PullRequest",
  PullRequestId,
  /** Executes every step that is due: fetches the head, assesses it, and starts or cancels its plans. */
  Rpc.make("Advance"),
  /** Allows plans of exactly this commit, regardless of the Source's rule. Fails with `guard_conflict` if the head has moved. */
  Rpc.make("Plan", {
    payload: { context: CommandContext, commit: CommitId },
    success: PullRequest,
    error: ApiError
  })
)
