import { Effect } from "effect"
import type { CrashHost } from "./CrashHost.ts"
import type { Hold } from "./Hold.ts"
import { readCloud } from "./Ledger.ts"
import type { Hunt, Strike } from "./Scenario.ts"
import type { smallDisk } from "../support/SmallDisk.ts"
import { killVictim } from "./Victims.ts"

/** Kills the process while its work is held, then releases the work. The host counts how often the server is killed. */
export const hunt = Effect.fnUntraced(function* (
  host: CrashHost,
  { stage, victim }: Hunt,
  hold: Hold,
  killed: () => void
) {
  const first = yield* host.current
  yield* hold.reached
  if (victim === "server" || victim === "point") {
    if (victim === "server") yield* first.signal("SIGKILL")
    yield* first.ended
    // Waits until the next server process has settled the killed process's work.
    yield* host.current
  } else {
    while (!(yield* killVictim((yield* host.current).pid, victim, stage))) yield* Effect.sleep("5 millis")
    killed()
  }
  yield* hold.release
})

/** At the given time, kills a running process of the victim's kind, if there is one. */
export const strike = Effect.fnUntraced(function* (host: CrashHost, { millis, victim }: Strike, killed: () => void) {
  yield* Effect.sleep(millis)
  if (yield* killVictim((yield* host.current).pid, victim)) killed()
})

const readiness = (host: CrashHost) =>
  Effect.flatMap(host.current, ({ url }) =>
    Effect.promise(async () => {
      const response = await fetch(`${url}/readyz`)
      return `${response.status} ${(await response.json()).reason}`
    })
  )

/** Tries to create a Workspace, and returns the status and error code of the response. */
const refusedWrite = (host: CrashHost) =>
  Effect.flatMap(host.current, ({ client }) =>
    client.workspaces.create({ payload: { handle: "too-much", displayName: "Too much" } }).pipe(
      Effect.as("201"),
      Effect.catchTag("ApiError", ({ code, status }) => Effect.succeed(`${status} ${code}`))
    )
  )

/**
 * Waits for the first creation, then keeps the disk full until the server has reported it and all work that needs the disk
 * has failed.
 */
export const spoil = Effect.fnUntraced(function* (
  host: CrashHost,
  disk: Effect.Success<ReturnType<typeof smallDisk>>,
  notesDir: string,
  killed: () => void
) {
  while ((yield* readCloud(notesDir)).created.length === 0) yield* Effect.sleep("2 millis")
  yield* disk.fill
  while ((yield* readiness(host)) !== "503 storage_full") yield* Effect.sleep("50 millis")
  // A full disk counts as an injected fault only if it made the server refuse a write.
  if ((yield* refusedWrite(host)) === "503 storage_full") killed()
  // Gives the tool time to exit, and the server time to fail while it records the exit.
  yield* Effect.sleep("3 seconds")
  yield* disk.free
  while ((yield* readiness(host)) === "503 storage_full") yield* Effect.sleep("50 millis")
})
