import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { ReadSql } from "../../actors/database/ReadSql.ts"
import { Draining } from "../streams/Draining.ts"

const alive = HttpServerResponse.jsonUnsafe({ status: "ok" })

const notReady = (reason: string) => HttpServerResponse.jsonUnsafe({ status: "unavailable", reason }, { status: 503 })

/** `/healthz`: the process answers. `/readyz`: it takes work, that is, its database answers and it is not stopping. */
export const health = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const sql = yield* ReadSql
    const draining = yield* Draining
    yield* router.add("GET", "/healthz", alive)
    yield* router.add(
      "GET",
      "/readyz",
      Effect.suspend(() =>
        draining.begun()
          ? Effect.succeed(notReady("draining"))
          : Effect.match(sql`SELECT 1`, { onFailure: () => notReady("database"), onSuccess: () => alive })
      )
    )
  })
)
