import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/**
 * Every server does this work separately, because the work concerns only that server's memory, requests, files or processes.
 */
const own = "own" as const
/** Any number of servers may do this work, because every step decides and writes in one transaction. */
const repeatable = "repeatable" as const
/** Only one server at a time does the work (`actors/base/node/ExclusiveWork.ts`). */
const exclusive = "exclusive" as const

/**
 * Every place in the code that starts a background fiber of a server, and how several servers on one database share the
 * fiber's work. Before you add a line, find out how two servers would affect each other.
 */
const fibers: Readonly<Record<string, ReadonlyArray<readonly [count: number, who: string, work: string]>>> = {
  "actors/Runtime.ts": [
    [1, own, "beats of this server"],
    [1, exclusive, "settlement of Runs of servers that are gone"],
    [1, repeatable, "execution of queued Runs, which are claimed in a transaction"],
    [1, own, "cancels of Runs that this server executes"],
    [1, exclusive, "progress of group updates"],
    [1, repeatable, "due work, whose step clears its mark"],
    [1, exclusive, "index of the states of earlier releases"],
    [1, own, "removal of archives from this machine's disk"]
  ],
  "actors/running/agent/AgentLayers.ts": [[1, exclusive, "judgement of silent agents"]],
  "actors/upkeep/cleanup/BackgroundCleanup.ts": [[1, exclusive, "cleanup, apart from this machine's own files"]],
  "actors/access/account/AccountCleanup.ts": [[1, repeatable, "deletion of expired sessions and links"]],
  "actors/access/account/TokenUse.ts": [[1, own, "the uses of tokens that this server saw"]],
  "actors/access/account/Sessions.ts": [[1, own, "the use of the session of a request"]],
  "actors/access/issuer/SigningKeys.ts": [[3, own, "this server's copies of the signing keys"]],
  "actors/access/issuer/IdentityCleanup.ts": [
    [1, repeatable, "deletion of expired grants, rotation of old signing keys"]
  ],
  "actors/ledger/state/StateKeeping.ts": [[1, own, "states of a tool that this server executes"]],
  "actors/ledger/run/RunLogs.ts": [[2, own, "the log of a Run that this server executes"]],
  "actors/ledger/run/RunJournal.ts": [[1, own, "the events of a Run that this server executes"]],
  "actors/base/DueWork.ts": [[1, repeatable, "a step of due work"]],
  "actors/base/mail/MailDelivery.ts": [[1, repeatable, "mails, which are claimed before they are sent"]],
  "actors/base/notice/NoticeDelivery.ts": [[3, exclusive, "deliveries of notices"]],
  "actors/commands/source/SourcesLive.ts": [[1, own, "the note of a delivery that this server received"]],
  "src/composition/Notices.ts": [[2, exclusive, "deliveries and mails of notices"]],
  "src/composition/SandboxWarmup.ts": [[1, own, "the sandbox of this machine"]],
  "src/backup/ScheduledBackups.ts": [[1, own, "backups of this machine's data folder"]],
  "src/database/PageWatch.ts": [[1, own, "the pages of this machine's database file"]],
  "src/database/postgres/Notifications.ts": [[1, own, "the announcements that this server hears"]],
  "src/database/postgres/SilentSessions.ts": [[1, own, "ends sessions that block the statements of this server"]],
  "src/database/HostSqlClient.ts": [[1, own, "the look for commits of a host application"]],
  "src/operator/PolicyCommands.ts": [[1, own, "this server's copy of the policy"]],
  "src/observability/AgentMetrics.ts": [[1, own, "metrics"]],
  "src/observability/DiskMetrics.ts": [[1, own, "metrics"]],
  "src/observability/NoticeMetrics.ts": [[1, own, "metrics"]],
  "src/observability/RunMetrics.ts": [[1, own, "metrics"]],
  "src/observability/StoredMetrics.ts": [[1, own, "metrics"]],
  "src/streams/AuthorityChanges.ts": [[1, own, "the streams of this server"]],
  "src/streams/RunFeeds.ts": [[1, own, "the streams of this server"]],
  "src/LongRunningProcess.ts": [[2, own, "this process's start"]],
  "src/ServiceMain.ts": [[1, own, "this process's start"]]
}

/** Programs that are not servers. */
const otherPrograms = /^src\/(?:agent|cli|client|dashboard|testing)\//

const files = ["actors", "src"].flatMap((room) =>
  readdirSync(room, { recursive: true, encoding: "utf8" }).flatMap((name) => {
    const file = join(room, name)
    return /\.tsx?$/.test(name) && !otherPrograms.test(file) ? [file] : []
  })
)

test("every background fiber of a server is listed with a rule for sharing its work among servers", () => {
  const found = files.flatMap((file) => {
    const count = [...readFileSync(file, "utf8").matchAll(/\bEffect\.fork\w+/g)].length
    return count === 0 ? [] : [`${file}: ${count}`]
  })
  const listed = Object.entries(fibers).map(
    ([file, places]) => `${file}: ${places.reduce((sum, [count]) => sum + count, 0)}`
  )
  expect(found.sort()).toEqual(listed.sort())
})

test("every fiber whose work only one server may do uses the exclusive lock", () => {
  const named = Object.entries(fibers).flatMap(([file, places]) =>
    places.filter(([, who]) => who === exclusive).map(() => file)
  )
  const asking = (file: string) =>
    [
      ...readFileSync(file, "utf8").matchAll(
        /\bexclusive\.(?:during|onlyHere)\(|\)\.(?:during|onlyHere)\(|recovery\.follow/g
      )
    ].length
  // A delivery's fibers run inside the fiber that its composition starts.
  const within = new Set(["actors/base/notice/NoticeDelivery.ts"])
  for (const file of new Set(named.filter((name) => !within.has(name)))) {
    const wanted = named.filter((name) => name === file).length
    expect({ file, asking: asking(file) }).toEqual({
      file,
      asking: Math.max(wanted, file.endsWith("Notices.ts") ? 2 : 1)
    })
  }
})
