import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { retention } from "../../../schema/records/Retention.ts"
import { transaction } from "../../base/database/Transaction.ts"

/** Delay before the first run. It is short, so that the cleanup also runs on a server that restarts often. */
const first = Duration.minutes(1)
const every = Duration.hours(6)
const keepEnded = retention.endedSession.after

/**
 * Deletes sessions, links and challenges a while after they have expired or been revoked. Keeps tokens, because their
 * inventory includes revoked tokens.
 */
export class AccountCleanup extends Context.Service<
  AccountCleanup,
  {
    /** Runs automatically a minute after startup, and then every six hours. */
    readonly purge: Effect.Effect<void>
  }
>()("svc/actors/access/account/AccountCleanup") {
  static readonly layer = Layer.effect(
    AccountCleanup,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const purge = Effect.gen(function* () {
        const at = yield* DateTime.now
        const before = DateTime.formatIso(DateTime.subtractDuration(at, keepEnded))
        yield* sql`DELETE FROM account_sessions WHERE expires_at < ${before} OR revoked_at < ${before}`
        yield* sql`DELETE FROM setup_links WHERE expires_at < ${before}`
        yield* sql`DELETE FROM address_changes WHERE expires_at < ${before}`
        yield* sql`DELETE FROM account_notices WHERE seen_at < ${before}`
        yield* sql`DELETE FROM action_confirmations WHERE expires_at < ${before}`
        yield* sql`DELETE FROM passkey_challenges WHERE expires_at < ${DateTime.formatIso(at)}`
      }).pipe(transaction(sql), Effect.withSpan("AccountCleanup.purge"))
      const guarded = Effect.catchCause(purge, (cause) => Effect.logWarning("Ended sessions were not forgotten", cause))
      const again = Effect.forever(Effect.andThen(guarded, Effect.sleep(every)))
      yield* Effect.forkScoped(Effect.andThen(Effect.sleep(first), again))
      return AccountCleanup.of({ purge })
    })
  )
}
