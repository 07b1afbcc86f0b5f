import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { ReadSql } from "../../actors/base/database/ReadSql.ts"
import { awaitsReview } from "../../actors/upkeep/restore/RestoreReview.ts"
import { DatabasePresence } from "../database/DatabasePresence.ts"
import { readInstallation } from "../database/Installation.ts"
import { PageWatch } from "../database/PageWatch.ts"
import { StorageSpace } from "../database/StorageSpace.ts"
import { Draining } from "../streams/Draining.ts"
import { SqlClient } from "effect/sql"
import { routeOf } from "../http-kit/DeclaredRoute.ts"
import { HealthApi, type UnreadyReason } from "./HealthApi.ts"

/** `ready` if the server accepts work, or the reason why it does not. */
export type Readiness = "ready" | "restore_review" | "database_damaged" | typeof UnreadyReason.Type

const alive = HttpServerResponse.jsonUnsafe({ status: "ok" })
const noticed = {
  restore_review: HttpServerResponse.jsonUnsafe({ status: "ok", notice: "restore_review" }),
  database_damaged: HttpServerResponse.jsonUnsafe({ status: "ok", notice: "database_damaged" })
}

const notReady = (reason: typeof UnreadyReason.Type) =>
  HttpServerResponse.jsonUnsafe({ status: "unavailable", reason }, { status: 503, headers: { "retry-after": "1" } })

const answerOf = (state: Readiness) =>
  state === "ready"
    ? alive
    : state === "restore_review" || state === "database_damaged"
      ? noticed[state]
      : notReady(state)

/**
 * Serves `/healthz`, which shows that the process responds, and `/readyz`, which shows whether the server accepts work (if
 * not, it responds with 503 and the reason).
 */
export const healthRoutes = (readiness: Effect.Effect<Readiness>) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const { alive: live, ready } = HealthApi.endpoints
      const answer = Effect.map(readiness, answerOf)
      yield* router.add(...routeOf(live), alive)
      yield* router.add(...routeOf(ready), answer)
      // Support OPTIONS, because HAProxy checks health with OPTIONS by default.
      yield* router.add("OPTIONS", live.path, alive)
      yield* router.add("OPTIONS", ready.path, answer)
    })
  )

const lost = {
  missing: "database_missing",
  replaced: "database_replaced"
} as const satisfies Record<string, Readiness>

/**
 * Determines whether a running server is ready: it is ready if it is not shutting down, its database responds, and the
 * database is still the file that the server opened.
 */
export const readiness = Effect.gen(function* () {
  const sql = yield* ReadSql
  const draining = yield* Draining
  const presence = yield* DatabasePresence
  const storage = yield* StorageSpace
  const pages = yield* PageWatch
  const installation = Effect.provideService(readInstallation, SqlClient.SqlClient, sql)
  const opened = yield* Effect.option(installation)
  let lastReported: Readiness = "ready"

  const look = Effect.gen(function* () {
    const file = yield* presence.look
    if (file !== "present") return lost[file]
    const present = yield* Effect.option(installation)
    if (present._tag === "None") return "database"
    if (opened._tag === "Some" && present.value?.id !== opened.value?.id) return "database_replaced"
    if (yield* storage.isFull) return "storage_full"
    // Remain ready even if pages are damaged: most responses are still correct, and taking the server out of service would
    // not help anybody.
    if ((yield* pages.fault) !== undefined) return "database_damaged"
    return (yield* awaitsReview(sql)) ? "restore_review" : "ready"
  }).pipe(Effect.catch(() => Effect.succeed<Readiness>("database")))

  return Effect.suspend((): Effect.Effect<Readiness> => {
    if (draining.begun()) return Effect.succeed("draining")
    return Effect.tap(look, (state) => {
      if (state === lastReported) return Effect.void
      lastReported = state
      if (state === "storage_full") {
        return Effect.logError(
          "The disk of the data folder is full: writes are refused until there is room. Make room while this server runs: a state that an apply cannot write is only in its memory."
        )
      }
      return state === "database_missing" || state === "database_replaced"
        ? Effect.logError(
            `The database file of this server is ${state === "database_missing" ? "gone from" : "another one at"} its path: what it writes from now on is lost. Stop the server, put the file back or restore a backup, and start again.`
          )
        : Effect.void
    })
  })
})

/** Health routes on the main listener. They are mounted last. Until then, the listener itself responds to health checks. */
export const health = Layer.unwrap(Effect.map(readiness, healthRoutes))
