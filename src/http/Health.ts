import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { ReadSql } from "../../actors/database/ReadSql.ts"
import { Draining } from "../streams/Draining.ts"

/** Whether the service takes work, or why not. */
export type Readiness = "ready" | "starting" | "draining" | "database"

const alive = HttpServerResponse.jsonUnsafe({ status: "ok" })

const notReady = (reason: Readiness) =>
  HttpServerResponse.jsonUnsafe({ status: "unavailable", reason }, { status: 503, headers: { "retry-after": "1" } })

/** `/healthz`: the process answers. `/readyz`: it takes work; otherwise 503 with the reason. */
export const healthRoutes = (readiness: Effect.Effect<Readiness>) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      yield* router.add("GET", "/healthz", alive)
      yield* router.add(
        "GET",
        "/readyz",
        Effect.map(readiness, (state) => (state === "ready" ? alive : notReady(state)))
      )
    })
  )

/** How the service that is up is: its database answers, and it is not stopping. */
export const readiness = Effect.gen(function* () {
  const sql = yield* ReadSql
  const draining = yield* Draining
  return Effect.suspend((): Effect.Effect<Readiness> => {
    if (draining.begun()) return Effect.succeed("draining")
    return Effect.match(sql`SELECT 1`, { onFailure: () => "database", onSuccess: () => "ready" })
  })
})

/** The health of the service on its own listener, where it is mounted last: before that the listener speaks for it. */
export const health = Layer.unwrap(Effect.map(readiness, healthRoutes))
