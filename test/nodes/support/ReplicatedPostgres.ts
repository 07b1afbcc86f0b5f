import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, FileSystem, Redacted, Schedule } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import { asUser, inMemory, must, programs, serverFolder } from "../../../scripts/PostgresServer.ts"

/**
 * A PostgreSQL server with a streaming replica. A commit is answered when the replica has it too. `failedOver` ends the first server
 * as a crash of its machine does, promotes the replica, and gives it the address of the first.
 */
export const replicatedPostgres = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const bin = yield* programs
  const folder = yield* serverFolder
  const context = yield* Effect.context<ChildProcessSpawner.ChildProcessSpawner>()
  const asServer = (args: ReadonlyArray<string>) => Effect.provideContext(must(asUser(args)), context)
  const control = (name: string, args: ReadonlyArray<string>) =>
    asServer([`${bin}/pg_ctl`, "-D", `${folder}/${name}`, "-w", ...args])
  const socketOf = (name: string) => `${folder}/${name}-socket`
  /** Points to the folder with the socket of the server that clients reach. */
  const address = `${folder}/address`
  const reach = (name: string) =>
    Effect.andThen(files.remove(address, { force: true }), files.symlink(socketOf(name), address))

  const started = Effect.fnUntraced(function* (name: string, settings: ReadonlyArray<string>) {
    yield* asServer(["mkdir", "-p", socketOf(name)])
    const all = ["listen_addresses=", `unix_socket_directories=${socketOf(name)}`, ...inMemory, ...settings]
    const start = control(name, ["-l", `${folder}/${name}-log`, "-o", all.map((one) => `-c ${one}`).join(" "), "start"])
    yield* Effect.acquireRelease(start, () => Effect.ignore(control(name, ["-m", "immediate", "stop"])))
    return { start }
  })

  yield* asServer([
    `${bin}/initdb`,
    "-D",
    `${folder}/first`,
    "-U",
    "svc",
    "--auth=trust",
    "-E",
    "UTF8",
    "--locale=C",
    "--no-sync"
  ])
  // A commit waits for the replica from the beginning, so the first one is answered after the replica has started.
  const { start } = yield* started("first", [
    "wal_level=replica",
    "synchronous_commit=on",
    "synchronous_standby_names=*"
  ])
  const copied = [`${bin}/pg_basebackup`, "-h", socketOf("first"), "-U", "svc", "-D", `${folder}/replica`]
  yield* asServer([...copied, "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync"])
  yield* started("replica", ["hot_standby=on"])
  yield* reach("first")

  const url = `postgres:///postgres?host=${encodeURIComponent(address)}&user=svc`
  const standby = Effect.scoped(
    Effect.flatMap(PgConnection.make({ url: Redacted.make(url) }), (session) =>
      Effect.map(session.query("SELECT sync_state FROM pg_stat_replication", [], false), ({ rows }) => rows)
    )
  )
  yield* Effect.repeat(standby, {
    until: ([row]) => row?.["sync_state"] === "sync",
    schedule: Schedule.spaced("100 millis")
  })

  return {
    url,
    socket: `${address}/.s.PGSQL.5432`,
    start,
    stop: (mode: "fast" | "immediate") => control("first", ["-m", mode, "stop"]),
    failedOver: Effect.gen(function* () {
      yield* control("first", ["-m", "immediate", "stop"])
      yield* control("replica", ["promote"])
      yield* reach("replica")
    })
  }
})
