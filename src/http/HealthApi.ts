import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { describedGroup, describedRoute } from "../http-kit/description/RouteDescription.ts"
import { RefusalEnvelope } from "../../schema/api/Middleware.ts"
import { everyone } from "../http-kit/RouteAccess.ts"

const Alive = Schema.Struct({ status: Schema.Literal("ok") })
const Ready = Schema.Struct({
  status: Schema.Literal("ok"),
  notice: Schema.optionalKey(Schema.Literals(["restore_review", "database_damaged"]))
})

/**
 * Reasons why a server does not accept work. Excludes `restore_review`: in that state the server accepts work, but restored
 * records have no effect until an operator confirms them.
 */
export const UnreadyReason = Schema.Literals([
  "starting",
  "draining",
  "database",
  "database_missing",
  "database_replaced",
  "storage_full"
])

const Unready = Schema.Struct({ status: Schema.Literal("unavailable"), reason: UnreadyReason })

const unavailable = [Unready, RefusalEnvelope].map((schema) => schema.pipe(HttpApiSchema.status(503)))

/** Health checks, for supervisors and load balancers. */
export class HealthApi extends describedGroup("health", "Health, for supervisors and load balancers.").add(
  HttpApiEndpoint.get("alive", "/healthz", { success: Alive }).annotateMerge(
    describedRoute(everyone, "Check that the process responds", "Also while it starts and migrates.")
  ),
  HttpApiEndpoint.get("ready", "/readyz", { success: Ready, error: unavailable }).annotateMerge(
    describedRoute(
      everyone,
      "Check readiness for work",
      "503 with the reason, and `Retry-After`, while it does not. With `notice` it accepts work and an operator has something to do: `database_damaged` when a background check found damaged pages, `restore_review` after a restore. Metrics are on the operator's own listener, which is not this one."
    )
  )
) {}
