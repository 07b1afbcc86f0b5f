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
      "Streams every event of the Workspace up to this moment, one JSON object a line: the fields of the activity, and `capsuleId`, `position` and `mac`. Positions count from 1 without gaps and never change; `mac` is a keyed digest of the event and of everything before it. An export that was cut off goes on with `after`, the `position` of its last line. Takes the filters of the activity; with one, positions have gaps."
    ),
    head: route(
      "Read the position of the operation history",
      "Position and digest of the newest event. If you keep the position elsewhere, it proves later that nothing before it was changed, removed or inserted: the line of an export at this `position` has this `mac`, and the operator's `svc audit verify --head FILE` recomputes the whole chain."
    )
  }
}

export const dashboardProse: GroupProse<typeof DashboardApi> = {
  about: "Combined reads for the dashboard.",
  routes: {
    bootstrap: route(
      "Data for the initial screen",
      "The data that the dashboard needs before it shows anything, in one request."
    ),
    overview: route(
      "Workspace overview",
      "The first 100 Capsules, everything that waits for a person in the whole Workspace (approvals, approved plans that nobody applied, updates that are not over, failures, drift, stale Capsules, refs of Sources that cannot be fetched, paused automation, Git Connections whose origins nobody confirmed, Connections within 14 days of their expiry, tokens that could not be renewed or revoked), recent Runs and activity."
    ),
    needs: route(
      "List everything that needs a person, worst first",
      "One entry for each Capsule, with its worst reason first and the other reasons in `also`; Capsules that wait for the same newer commit of a Source are one entry, which `plan-update` with their `capsuleIds` plans together. Then open updates, Connections, refs that cannot be fetched, and paused automation. `counts` has the entries of each group over all pages, and `health` counts every Capsule once, by its worst reason; a Capsule that nothing is open for is `healthy` only if a drift check has compared it, and `unchecked` otherwise."
    ),
    latestRuns: route(
      "Newest Run of each of these Capsules",
      "`capsuleIds` contains 1 to 100 Capsule ids, separated by commas. The newest Run of each Capsule, regardless of its age: its type, status and times, without its results. A Capsule that never ran, or is not of the Workspace, is absent."
    )
  }
}

const filterSentence =
  "Filters: `capsuleId`, `sourceId`, `actor` (the subject who started it), `type`, `status` and `trigger` (one word or several, separated by commas), `since` (inclusive) and `until` (exclusive) of the creation, in UTC with milliseconds or whole seconds, and `speculative` (`true` for speculative plans only, `false` for everything else). `search` finds the Runs that every one of its words fits (the first eight): a part of the name of the Capsule, its environment or Project, of the Source, of the commit's title or author, of the name of the member who started it, or the first characters of the id of the Run, of its Capsule, Source or snapshot, or of the commit."

export const workspacesProse: GroupProse<typeof WorkspacesApi> = {
  about: "Workspaces, their Projects and what is listed by Workspace.",
  routes: {
    inventory: route(
      "Inventory of the account's active memberships",
      "Accepts `limit` and `cursor` only; whose it is comes from the account session alone, every other credential is refused with 403."
    ),
    list: route(
      "List Workspaces of the caller",
      "Creates the personal Workspace at first sign-in. `selectedWorkspaceId` adds that Workspace to the first page and returns its id in `pinnedWorkspaceId`."
    ),
    create: route(
      "Create a Workspace",
      "The caller becomes its owner. A handle is lower case, unique on the server and never changes; one that is taken is 409."
    ),
    read: route("Read a Workspace", "Includes the caller's own `role`. Archived Workspaces can be read."),
    update: route(
      "Rename, archive or restore a Workspace, or set how often it checks for drift",
      "`driftChecks` applies to every Capsule without its own setting; the checks use Connections on the authority of the person who set it. An archived Workspace can be read, restored and left; every other request gets 409 until it is restored."
    ),
    setAutomation: route(
      "Pause or resume all automation",
      "While it is paused nothing is planned or applied without a person in this Workspace: no auto-update, no next wave of a group, no scheduled drift check. Webhooks and schedules go on looking at Sources, so that Capsules become `stale`. Running work continues to its end; an automatic apply that has not started is cancelled. `automationPause` of the Workspace contains the time, the person and the reason; the first pause lasts until somebody resumes. Skipped work is decided again within a minute of the resume."
    ),
    members: route(
      "List members",
      "Suspended members are listed with their status. People who are invited by address or subject have the status `invited`: an address gets a separate `subject` that belongs to no account, even if an account has the address."
    ),
    addMember: route(
      "Invite a member, or make an automation",
      "Name exactly one of `subject`, `email` and `automation`. Role defaults to `member`; only owners add owners. Nobody becomes a member without having accepted: the answer is the same whether or not the address has an account, its `member` has the status `invited`, and `link` is shown this once. Only an account for which the address was verified, or the named account, can accept. Inviting the same person again ends the earlier link; an active member is 409. `automation` gives the name of a member of the kind `automation`, which is active at once and has no `link`: it never signs in, uses tokens that owners and admins create for it, and has `admin` at most."
    ),
    updateMember: route(
      "Change a member's role or status, or rename an automation",
      "Only owners change roles; the last owner cannot be lowered or suspended (409). Somebody who left, or has not accepted yet, cannot be made active (409). `displayName` renames an automation; people name themselves (400)."
    ),
    removeMember: route(
      "Remove a member, or leave",
      "Suspends the membership at once on every surface; the last owner stays (409). Everybody may remove themselves; removing others needs the role admin, or owner for an owner. The subject of an `invited` person withdraws the invitation. The tokens of a removed automation are revoked."
    ),
    handOver: route(
      "Hand over the Workspace",
      "Makes another active member (409 for anybody else) an owner and the caller an admin, in one transaction. Other owners stay owners."
    ),
    projects: route("List Projects", "Every Workspace starts with one Project, `default`."),
    createProject: route(
      "Create a Project",
      "`slug` is made from the name when absent; a given one that is taken in the Workspace is 409."
    ),
    readProject: route(
      "Read a Project",
      "A Project groups Capsules of one Workspace; within it no two have the same name and environment."
    ),
    graph: route(
      "Capsule dependency graph",
      "Capsules and Sources as nodes; an edge leads from what is needed to what needs it, with the `mode` of the dependency."
    ),
    uiSurfaces: route(
      "Interfaces that the signed-in person may open",
      "`limit` defaults to 100 and is clamped to 100. Reads only."
    ),
    activity: route(
      "Operation history, newest first",
      "Append-only and value-free: who did what to which record, when. Filters: `action`, `capsuleId`, `actor` (a subject), `runId`, `since` (inclusive) and `until` (exclusive), in UTC with milliseconds or whole seconds."
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
    billing: route("Billing state", "`disabled` or `showback`: this service counts and never charges."),
    backups: route(
      "List exports of control information",
      "Digest and size of each export; the archives stay sealed on the server."
    ),
    createBackup: queuedRun(
      "Export control information, sealed",
      "Writes the records of the Workspace to a sealed archive on the server. `svc backup` makes the copy of the whole database."
    ),
    planUpdate: queuedRun(
      "Update stale Capsules, in waves",
      "Every stale Capsule of the Workspace, or the stale Capsules of `capsuleIds`, each with its consumers. 201 with the group, its `waves` and the Plan Runs of the first wave: consumers are planned after their producers were applied, and skipped if none of their inputs has changed. Nothing is applied without approval. Capsules that refuse are named in `skipped`; if all do, the answer is the first refusal. An older update of the Workspace that is still open is cancelled (`replacedBy`)."
    ),
    driftCheck: queuedRun(
      "Check every active Capsule for drift",
      "201 with the group and its drift-check Runs, which change nothing. Capsules that refuse are named in `skipped`; if all do, the answer is the first refusal."
    ),
    currentStateVersions: route(
      "The current StateVersion of every Capsule",
      "Metadata only; the state itself never leaves."
    ),
    runs: route(
      "List Runs, newest first",
      `${filterSentence} A listed Run has the summary of its plan, but not what the plan changes item by item (\`resourceChanges\`, \`outputChanges\`, \`resourceDrift\`): read the Run for that. Checks by webhooks and schedules that found nothing new are omitted, and kept for a day; \`includeLooks=true\` lists them too. \`view=changes\` lists a change once: by its plan, and \`folded\` contains the Runs that belong to the plans of the page: the syncs and checks of their snapshots, the plans that they replaced, and their applies. It takes the filters \`capsuleId\`, \`sourceId\`, \`since\` and \`until\`, and is refused (400) with other filters, which may fit one Run of a change and not another.`
    ),
    runFacets: route(
      "Count Runs by what they can be filtered by",
      `Takes the filters of the list of Runs. Each facet is counted with the other filters and without its own, so that it shows the result of choosing a value. Of the Runs that fit \`search\`, \`sourceId\`, \`since\` and \`until\` the newest ${mostCounted.toLocaleString("en")} are counted; \`complete\` is false if there are more.`
    ),
    capsules: route("List Capsules", "Filters: `projectId`, `status`.")
  }
}
