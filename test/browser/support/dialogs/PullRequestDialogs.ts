import { pullRequestWords } from "../../../../src/dashboard/screens/pull-request/Words.ts"
import { strangePullRequest } from "../records/PullRequests.ts"
import { button, type OpenedDialog } from "./DialogActions.ts"

/** Dialogs on the pull request page. */
export const pullRequestDialogs: ReadonlyArray<OpenedDialog> = [
  {
    source: "screens/pull-request/PlanCommit.tsx",
    path: `/w/acme/pull-requests/${strangePullRequest}`,
    ready: ".row-static",
    open: button((to) => pullRequestWords[to].plan)
  }
]
