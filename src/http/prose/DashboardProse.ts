import type { DashboardApi } from "../../../schema/api/DashboardApi.ts"
import { type GroupProse, route } from "./Prose.ts"

export const dashboardProse: GroupProse<typeof DashboardApi> = {
  about: "What the dashboard shows together.",
  routes: {
    bootstrap: route(
      "Data for the initial screen",
      "What the dashboard needs before it shows anything, in one request."
    ),
    overview: route(
      "Workspace overview",
      "The first 100 Capsules, what waits for a person in the whole Workspace (approvals, approved plans that nobody applied, updates that are not over, failures, drift, stale Capsules, refs of Sources that cannot be fetched, paused automation, Git Connections whose origins nobody confirmed, Connections within 14 days of their expiry, tokens that could not be renewed or revoked), recent Runs and activity."
    ),
    needs: route(
      "What needs a person, worst first",
      "One entry for each Capsule, named by its worst reason, with the others in `also`; Capsules that wait for the same newer commit of a Source are one entry, which `plan-update` with their `capsuleIds` plans together. Then open updates, Connections, refs that cannot be fetched, and paused automation. `counts` has the entries of each group over all pages, and `health` counts every Capsule once, by its worst reason; a Capsule that nothing is open for is `healthy` only if a drift check has compared it, and `unchecked` otherwise."
    ),
    latestRuns: route(
      "Newest Run of each of these Capsules",
      "`capsuleIds` names 1 to 100 Capsules, separated by commas. Whatever its age, the newest Run of each: its type, status and times, without what it found. A Capsule that never ran, or is not of the Workspace, is absent."
    )
  }
}
