import { Clock, Context, DateTime, Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { retention } from "../../../schema/records/Retention.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { SigningKeys } from "./SigningKeys.ts"

const every = Duration.hours(1)
const keysRotateAfter = retention.signingKey.after
const kept = retention.endedGrant.after

/** Background maintenance of the issuer: rotates keys when they are due, and deletes old records. */
export class IdentityCleanup extends Context.Service<
  IdentityCleanup,
  {
    /** Deletes codes, tokens and grants that ended at least 30 days ago. */
    readonly purge: Effect.Effect<void>
    /** Rotates the signing keys once the active keys are 90 days old. */
    readonly rotateIfDue: Effect.Effect<void>
  }
>()("svc/actors/access/issuer/IdentityCleanup") {
  /** Runs `purge` and `rotateIfDue` every hour. */
  static readonly layer = Layer.effect(
    IdentityCleanup,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const keys = yield* SigningKeys

      const purge = Effect.gen(function* () {
        const before = DateTime.formatIso(DateTime.subtractDuration(yield* DateTime.now, kept))
        yield* sql`DELETE FROM oidc_codes WHERE expires_at < ${before}`
        yield* sql`DELETE FROM oidc_device_codes WHERE expires_at < ${before}`
        yield* sql`DELETE FROM oauth_access_tokens WHERE expires_at < ${before}`
        // Keeps used tokens until 30 days after their expiry, because their reuse reveals a theft.
        yield* sql`DELETE FROM oidc_refresh_tokens WHERE expires_at < ${before}`
        yield* sql`DELETE FROM oidc_grants WHERE created_at < ${before}
          AND NOT EXISTS (SELECT 1 FROM oidc_refresh_tokens r WHERE r.grant_id = oidc_grants.id)
          AND NOT EXISTS (SELECT 1 FROM oidc_codes c WHERE c.grant_id = oidc_grants.id)
          AND NOT EXISTS (SELECT 1 FROM oidc_device_codes d WHERE d.grant_id = oidc_grants.id)
          AND NOT EXISTS (SELECT 1 FROM oauth_access_tokens a WHERE a.grant_id = oidc_grants.id)`
      }).pipe(
        sql.withTransaction,
        Effect.catchTag("SqlError", (error) => Effect.logWarning("Ended grants were not cleared away", error)),
        Effect.withSpan("IdentityCleanup.purge")
      )

      const rotateIfDue = Effect.gen(function* () {
        const age = (yield* Clock.currentTimeMillis) - Date.parse(yield* keys.activeSince)
        if (age < Duration.toMillis(keysRotateAfter)) return
        const { activeKeyIds } = yield* keys.rotate(serviceContext)
        yield* Effect.logInfo(`Signing keys rotated: ${activeKeyIds.join(", ")}`)
      }).pipe(
        Effect.catch((error) => Effect.logWarning("The signing keys were not rotated", error)),
        Effect.withSpan("IdentityCleanup.rotateIfDue")
      )

      yield* Effect.forkScoped(
        Effect.repeat(Effect.andThen(purge, rotateIfDue), Schedule.spaced(every)).pipe(Effect.delay(every))
      )

      return IdentityCleanup.of({ purge, rotateIfDue })
    })
  )
}
