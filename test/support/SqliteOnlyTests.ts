const text =
  "its statements are SQLite's: PRAGMA, EXPLAIN QUERY PLAN, generated rows, or triggers that ignore rows or query in conditions"
const clock = "turns the clock, and expects the statements that follow to have run"
const file = "opens, copies or fills the file of the database, or has another process open it"
const earlier = "runs a migration of a release that had only SQLite"
const paced = "writes lines until the database answers, which exceeds the log's limit while PostgreSQL answers"
const counted = "counts statements that SQLite runs and PostgreSQL splits differently"

const of = (reason: string, ...titles: ReadonlyArray<string>) => titles.map((title) => [title, reason] as const)

/** Titles of tests that fail on PostgreSQL, each with its reason. `npm run test:postgres` fails for any other title. */
export const sqliteOnlyTests: ReadonlyMap<string, string> = new Map([
  ...of(
    text,
    "a claim reads only a few rows even in a queue of 100,000 Runs",
    "every query for latest Runs uses the index and scans no table",
    "Run comments > svc rejects comments beyond a Run's limit, and removes comments with their Run",
    "lists and counts of Runs read the list's index in order",
    "open Runs are a Capsule's queued and running Runs of exclusive types",
    "the check for expired leases reads nothing until an agent connects, and then reads open claims through an index",
    "lists of Runs select neither the plan details nor a column that is stored after them",
    "removing 2000 Runs with 100000 log lines and their history loses none of a concurrent writer's rows",
    "svc detects a sealed part that is changed, missing, swapped or taken from another value",
    "every table column that can store parts has triggers that delete them",
    "Moved sealed values > the vault check finds damaged values in every column that has ever contained a sealed value",
    "a rotation that stops at any step leaves everything readable, and the next rotation completes it",
    "the query finds exactly the Capsules of the Workspace that need attention"
  ),
  ...of(
    file,
    "a rotation killed at any step leaves every value readable, and the next rotation completes it",
    "Secret instance keys > a secret instance key is hidden at once in an adopted state and in the problems that block its adoption",
    "Secret instance keys > a secret instance key is never shown, and its resource has the same hidden address everywhere",
    "Secret instance keys > no API response, event stream, opened backup or terminal output contains a secret instance key",
    "a process killed between two steps leaves enough data in the database to settle its Run, but no secrets",
    "a restore killed in either of its two Runs is completed exactly once by the next process",
    "a restored service does not repeat an apply that may have run after the backup",
    "after a restore, svc settles an apply from its stored result, but does not make a plan reviewable",
    "a service killed during an apply loses no state, repeats no apply, and restarts an interrupted plan",
    "a service killed during an apply records secret instance keys only in hidden form",
    "after 20 random steps from 2 seeds, no Capsule has an outdated value without being marked as stale",
    "the next process removes a Source if the first process was killed during its first read",
    "a result is not accepted on a full disk, and is accepted once there is space",
    "a write without disk space returns 503, saves nothing, and succeeds once there is space"
  ),
  ...of(
    earlier,
    "Git origins > svc proposes origins from an earlier release, shows who chose them, and requires confirmation",
    "Secret instance keys > an upgrade erases a secret instance key stored by an earlier release from the database, its log and new backups",
    "an upgrade keeps the reasons why a Capsule is stale, and infers its last applied inputs from timestamps"
  ),
  ...of(paced, "a log records the position and number of lines that the database rejected, and stores later lines"),
  ...of(counted, "rows with more values than one statement can bind are written in several statements"),
  ...of(
    clock,
    "account cleanup starts soon after startup, so a server that restarts every few hours still cleans up",
    "Due work > due work runs once, after the transaction that marked it as due commits",
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
    "An endpoint > a 410 response ends delivery to the endpoint, drops its waiting notices, and is recorded in the audit trail",
    "An endpoint > delivery to an endpoint pauses for up to ten hours if its receiver requests a pause",
    "An endpoint > an endpoint is disabled and shows the reason after five days without an accepted notice",
    "An endpoint > notices are signed with both secrets while both are valid, and with only the new secret afterwards",
    "An endpoint > a hanging endpoint delays no other endpoint: the others receive every notice before the hanging request times out",
    "Deliveries > a notice is sent to the endpoints of its Workspace and of the server, but not to the endpoints of other Workspaces"
  )
])
