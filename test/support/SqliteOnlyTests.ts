const text = "its statements are SQLite's: PRAGMA, EXPLAIN QUERY PLAN, printf, zeroblob, or triggers"
const clock = "turns the clock, and expects the statements that follow to have run"
const file = "opens the file of the database, or has another process open it"
const counted = "counts statements that SQLite runs and PostgreSQL splits differently"

const of = (reason: string, ...titles: ReadonlyArray<string>) => titles.map((title) => [title, reason] as const)

/** Titles of tests that fail on PostgreSQL, each with its reason. `npm run test:postgres` fails for any other title. */
export const sqliteOnlyTests: ReadonlyMap<string, string> = new Map([
  ...of(
    text,
    "a claim reads only a few rows even in a queue of 100,000 Runs",
    "events of an earlier release get positions in order of time, even after a crash, and an event records this",
    "every query for latest Runs uses the index and scans no table",
    "lists and counts of Runs read the list's index in order",
    "open Runs are a Capsule's queued and running Runs of exclusive types",
    "lists of Runs select neither the plan details nor a column that is stored after them",
    "removing 2000 Runs with 100000 log lines and their history loses none of a concurrent writer's rows",
    "Run moves > no sequence of requests causes an illegal Run move or uses a plan twice",
    "Uncertain state > a Capsule whose apply may have created objects stays uncertain until a later apply succeeds",
    "Deliveries > a notice is removed thirty days after delivery ends, and the oldest notice is dropped if more than ten thousand wait",
    "svc detects a sealed part that is changed, missing, swapped or taken from another value",
    "every table column that can store parts has triggers that delete them",
    "Moved sealed values > the vault check finds damaged values in every column that has ever contained a sealed value",
    "a rotation that stops at any step leaves everything readable, and the next rotation completes it",
    "Uploaded states > an uploaded state is matched against an earlier check of the module, and never planned with an older tool",
    "auto-update > auto-update records a decision for each snapshot, and starts nothing while automation is paused",
    "Lane following > auto-update plans each commit once, and applies it if the owner enabled automatic applies",
    "the query finds exactly the Capsules of the Workspace that need attention",
    "an upgrade hides instance keys of an earlier release before they are shown, even after an interruption",
    "no event reports a state whose commit failed, and no state is stored after the execution ends",
    "an interrupted background read of states resumes where it stopped",
    "Many pull requests > svc fetches each head once, and at most four heads at a time",
    "Many pull requests > a hundred pull requests for twenty Capsules run eight plans at a time, and people's Runs still start"
  ),
  ...of(file, "a rotation killed at any step leaves every value readable, and the next rotation completes it"),
  ...of(counted, "rows with more values than one statement can bind are written in several statements"),
  ...of(
    clock,
    "account cleanup starts soon after startup, so a server that restarts every few hours still cleans up",
    "a log records the position and number of lines that the database rejected, and stores later lines",
    "log lines buffered under an earlier fence are not stored under the next fence",
    "Due work > due work runs once, after the commit that set its mark",
    "Due work > the next poll finds due work whose wake-up was lost",
    "Due work > due work runs again if it is marked again during its step",
    "Due work > due work runs again after its step if it is marked again after the step's commit",
    "Due work > due work that fails keeps its mark and backs off without delaying other records",
    "Due work > due work that fails for minutes appears in its Workspace's attention list until it succeeds",
    "Due work > due work leaves the attention list when it succeeds after a restart",
    "A notice > a notice is sent once, signed as Standard Webhooks specifies, and recorded with its attempt",
    "A notice > a notice is retried at growing intervals of at most ten hours, with up to 20 % jitter, then dropped",
    "A notice > a notice waits up to five minutes for an earlier notice about the same subject, without delaying other subjects",
    "A notice > a notice is resent with the same id if the server crashes before recording the response",
    "An endpoint > a 410 response ends the endpoint, drops its waiting notices, and is recorded in the audit trail",
    "An endpoint > delivery to an endpoint pauses for up to ten hours if its receiver requests a pause",
    "An endpoint > an endpoint is disabled and shows the reason after five days without an accepted notice",
    "An endpoint > notices are signed with both secrets while both are valid, and with only the new secret afterwards",
    "An endpoint > a hanging endpoint delays no other endpoint: the others receive every notice before the hanging request times out",
    "Deliveries > a notice is sent to the endpoints of its Workspace and of the server, but not to the endpoints of other Workspaces"
  )
])
