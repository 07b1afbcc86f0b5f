import { mostCounted } from "../../../schema/api/RunQueries.ts"
import type { WorkspacesApi } from "../../../schema/api/WorkspacesApi.ts"
import { type GroupProse, queuedRun, route } from "./Prose.ts"
import type { DashboardApi } from "../../../schema/api/DashboardApi.ts"
import type { AuditApi } from "../../../schema/api/AuditApi.ts"

export const auditProse: GroupProse<typeof AuditApi> = {
  about: "The operation history of a Workspace as evidence.",
  routes: {
    export: route(
      "Export the operation history as JSON lines, oldest first",
      "Streams every event of the Workspace up to this moment, one JSON object a line: the fields of the activity, and `capsuleId`, `position` and `mac`. Positions count from 1 without gaps and never change; `mac` is a keyed digest of the event and all earlier events. To continue an interrupted export, send the `position` of its last line as `after`. Accepts the filters of the activity; positions of a filtered export have gaps."
    ),
    head: route(
      "Read the position of the operation history",
      "Position and digest of the newest event. If you keep them elsewhere, they later prove that no earlier event was changed, removed or inserted: the line of an export at this `position` has this `mac`, and the operator's `svc audit verify --head FILE` recomputes the whole chain."
    )
  }
}

export const dashboardProse: GroupProse<typeof DashboardApi> = {
  about: "Combined reads for the dashboard.",
  routes: {
    bootstrap: route("Data for the initial screen", "All data for the dashboard's first screen, in one request."),
    overview: route(
      "Workspace overview",
      "The first 100 Capsules, everything that waits for a person in the whole Workspace (approvals, approved plans that nobody applied, unfinished updates, failures, drift, stale Capsules, refs of Sources that cannot be fetched, paused automation, Git Connections with unconfirmed origins, Connections within 14 days of their expiry, tokens that could not be renewed or revoked), recent Runs and activity."
    ),
    needs: route(
      "List everything that needs a person, worst first",
      "One entry for each Capsule, with its worst reason first and the other reasons in `also`; Capsules that wait for the same newer commit of a Source share one entry; send its `capsuleIds` to `plan-update` to plan them together. Then open updates, Connections, refs that cannot be fetched, and paused automation. `counts` contains the number of entries of each group over all pages, and `health` counts every Capsule once, by its worst reason; a Capsule without an entry is `healthy` if a drift check has compared it, and `unchecked` otherwise."
    ),
    latestRuns: route(
      "Newest Run of each given Capsule",
      "`capsuleIds` contains 1 to 100 Capsule ids, separated by commas. The newest Run of each Capsule, regardless of its age: its type, status and times, without its results. A Capsule that never ran, or is not of the Workspace, is absent."
    )
  }
}

const filterSentence =
  "Filters: `capsuleId`, `sourceId`, `actor` (the subject who started it), `type`, `status` and `trigger` (one word or several, separated by commas), `since` (inclusive) and `until` (exclusive) of the creation, in UTC with milliseconds or whole seconds, and `speculative` (`true` for speculative plans only, `false` for everything else). `search` finds Runs that match all its words (at most eight are used). A word matches a part of the name of the Capsule, its environment or Project, of the Source, of the commit's title or author, or of the name of the member who started it, or the first characters of the id of the Run, of its Capsule, Source or snapshot, or of the commit."

export const workspacesProse: GroupProse<typeof WorkspacesApi> = {
  about: "Workspaces, their Projects and lists by Workspace.",
  routes: {
    inventory: route(
      "Inventory of the account's active memberships",
      "Accepts only `limit` and `cursor`. The account is determined by the session; every other credential is refused with 403."
    ),
    list: route(
      "List Workspaces of the caller",
      "Creates the personal Workspace at first sign-in. `selectedWorkspaceId` adds that Workspace to the first page and returns its id in `pinnedWorkspaceId`."
    ),
    create: route(
      "Create a Workspace",
      "The caller becomes its owner. A handle is lower case, unique on the server and never changes (409 if it is taken)."
    ),
    read: route("Read a Workspace", "Includes the caller's own `role`. Archived Workspaces can be read."),
    update: route(
      "Rename, archive or restore a Workspace, or set its drift check interval",
      "`driftChecks` applies to every Capsule without its own setting; the checks use Connections on the authority of the person who set it. An archived Workspace can be read, restored and left; every other request gets 409 until it is restored."
    ),
    setAutomation: route(
      "Pause or resume all automation",
      "While it is paused nothing is planned or applied without a person in this Workspace: no auto-update, no next wave of a group, no scheduled drift check. Webhooks and schedules still sync Sources, so that Capsules become `stale`. Running work continues to its end; an automatic apply that has not started is cancelled. `automationPause` of the Workspace contains the time, the person and the reason; the first pause lasts until somebody resumes. Skipped work is decided again within a minute of the resume."
    ),
    members: route(
      "List members",
      "Suspended members are listed with their status. People who are invited by address or subject have the status `invited`: an address gets a separate `subject` that belongs to no account, even if an account has the address."
    ),
    addMember: route(
      "Invite a member, or create an automation",
      "Send exactly one of `subject`, `email` and `automation`. The role defaults to `member`; only owners can add owners. People become members only when they accept: the response is the same whether or not the address has an account, its `member` has the status `invited`, and `link` is shown only once. Only an account for which the address was verified, or the named account, can accept. Inviting the same person again ends the earlier link; an active member is 409. `automation` gives the name of a member of the kind `automation`, which is active immediately and has no `link`: it never signs in, uses tokens that owners and admins create for it, and has at most the role `admin`."
    ),
    updateMember: route(
      "Change a member's role or status, or rename an automation",
      "Only owners change roles; the last owner cannot be lowered or suspended (409). Somebody who left, or has not accepted yet, cannot be made active (409). `displayName` renames an automation; people choose their own names (400)."
    ),
    removeMember: route(
      "Remove a member, or leave",
      "Suspends the membership immediately and everywhere; the last owner cannot be removed (409). Everybody may remove themselves; removing others needs the role admin, or owner for an owner. The subject of an `invited` person withdraws the invitation. The tokens of a removed automation are revoked."
    ),
    handOver: route(
      "Hand over the Workspace",
      "Makes another active member (409 for anybody else) an owner and the caller an admin, in one transaction. Other owners stay owners."
    ),
    projects: route("List Projects", "Every Workspace starts with one Project, `default`."),
    createProject: route(
      "Create a Project",
      "`slug` defaults to a form of the name; a slug that is taken in the Workspace is refused (409)."
    ),
    readProject: route(
      "Read a Project",
      "A Project groups Capsules of one Workspace; no two Capsules of a Project have the same name and environment."
    ),
    graph: route(
      "Capsule dependency graph",
      "Capsules and Sources are nodes; an edge leads from a producer to its consumer, with the `mode` of the dependency."
    ),
    uiSurfaces: route(
      "Interfaces that the signed-in person may open",
      "`limit` defaults to 100 and is clamped to 100. Reads only."
    ),
    activity: route(
      "Operation history, newest first",
      "Append-only and without values: each entry has the person, the action, the record and the time. Filters: `action`, `capsuleId`, `actor` (a subject), `runId`, `since` (inclusive) and `until` (exclusive), in UTC with milliseconds or whole seconds."
    ),
    materializationFailures: route(
      "Value-free failures of Interface materialisation",
      "The Outputs of an apply that could not be created: code and attempt, never a value."
    ),
    retryMaterialization: route(
      "Retry a failed materialisation",
      "Accepted only while the failure is exactly the expected one (409 otherwise)."
    ),
    usage: route(
      "Usage counted by this service",
      "Run minutes, applies, bytes of state and of logs, summed over the Workspace. Bytes of events, plans, snapshots, backups and of the operation history are counted once an hour (`countedAt`), and are absent until the first count after a start."
    ),
    billing: route("Billing state", "`disabled` or `showback`: this service measures usage but never charges."),
    backups: route(
      "List exports of control information",
      "Digest and size of each export; the archives stay sealed on the server."
    ),
    createBackup: queuedRun(
      "Export control information, sealed",
      "Writes the records of the Workspace to a sealed archive on the server. For a copy of the whole database, use `svc backup`."
    ),
    planUpdate: queuedRun(
      "Update stale Capsules, in waves",
      "Every stale Capsule of the Workspace, or the stale Capsules of `capsuleIds`, each with its consumers. 201 with the group, its `waves` and the Plan Runs of the first wave: consumers are planned after their producers are applied, and skipped if none of their inputs has changed. Nothing is applied without approval. `skipped` lists Capsules that cannot be planned; if none can be planned, the response is the first error. An older open update of the Workspace is cancelled (`replacedBy`)."
    ),
    driftCheck: queuedRun(
      "Check every active Capsule for drift",
      "201 with the group and its drift-check Runs, which change nothing. `skipped` lists Capsules that cannot be checked; if none can be checked, the response is the first error."
    ),
    currentStateVersions: route(
      "The current StateVersion of every Capsule",
      "Metadata only; no route returns the state itself."
    ),
    runs: route(
      "List Runs, newest first",
      `${filterSentence} A listed Run has the summary of its plan, but not the individual changes (\`resourceChanges\`, \`outputChanges\`, \`resourceDrift\`): read the Run for that. Checks by webhooks and schedules that found nothing new are omitted, and kept for a day; \`includeLooks=true\` includes them. \`view=changes\` lists each change once, as its plan, and \`folded\` contains the other Runs of the listed plans: the syncs and checks of their snapshots, the plans that they replaced, and their applies. It accepts the filters \`capsuleId\`, \`sourceId\`, \`speculative\`, \`since\` and \`until\`, and is refused (400) with other filters, which could match some Runs of a change and not others.`
    ),
    runFacets: route(
      "Count Runs by filter value",
      `Accepts the filters of the list of Runs. Each facet is counted with all other filters but without its own, so that it shows the result of selecting a value. Of the Runs that match \`search\`, \`sourceId\`, \`since\` and \`until\` the newest ${mostCounted.toLocaleString("en")} are counted; \`complete\` is false if there are more.`
    ),
    capsules: route("List Capsules", "Filters: `projectId`, `status`.")
  }
}
