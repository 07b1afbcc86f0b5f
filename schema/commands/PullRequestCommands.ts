import { Rpc } from "effect/rpc"
import { PullRequestId } from "../records/Ids.ts"
import { commandsOf } from "./Command.ts"

/** Commands on one pull request. */
export const PullRequestCommands = commandsOf(
  "PullRequest",
  PullRequestId,
  /** Takes every step that is due: fetches the head and judges it. */
  Rpc.make("Advance")
)
