import { Context, type Duration, Effect, Layer, Queue, type Scope, Schema } from "effect"
import { Commits } from "../../actors/base/database/Commits.ts"
import { ReadSql } from "../../actors/base/database/ReadSql.ts"
import { type RowOf, table } from "../../actors/base/database/Table.ts"

/** Counter of changes to authority, stored in a single row and incremented by database triggers. */
export const AuthorityChangeRow = table("authority_changes", {
  id: Schema.Int,
  count: Schema.Int
})
type AuthorityChangeRow = RowOf<typeof AuthorityChangeRow.columns>

/** Detects authority changes that one follower has not seen yet. */
export interface AuthorityWatch {
  /** Returns the current counter. Call it before reading the authority. */
  readonly seen: () => number
  /** Completes once any authority has changed since the counter had the value `seen`. */
  readonly changedSince: (seen: number) => Effect.Effect<void>
}

/**
 * Signals that some authority may have been lost, after a commit that changed an account, session, token, grant, membership or
 * agent. Each follower then checks its own authority. Other commits do not wake followers, and if there are no followers,
 * the counter is not read.
 */
export class AuthorityChanges extends Context.Service<
  AuthorityChanges,
  { readonly follow: Effect.Effect<AuthorityWatch, never, Scope.Scope> }
>()("svc/src/streams/AuthorityChanges") {
  static readonly layer = Layer.effect(
    AuthorityChanges,
    Effect.gen(function* () {
      const sql = yield* ReadSql
      const commits = yield* Commits
      const committed = yield* Queue.sliding<void>(1)
      const waiting = new Set<() => void>()
      let followers = 0
      let version = 0
      let known: number | undefined

      const wake = () => {
        version++
        const resumed = [...waiting]
        waiting.clear()
        for (const resume of resumed) resume()
      }

      const look = Effect.gen(function* () {
        const [row] = yield* AuthorityChangeRow.some(sql, "count")`SELECT count FROM authority_changes`
        if (row?.count === known) return
        known = row?.count
        wake()
      }).pipe(
        // Wake the followers if the changes cannot be read, because something may have changed.
        Effect.catchCause((cause) =>
          Effect.andThen(Effect.logWarning("Changes of authority could not be read", cause), Effect.sync(wake))
        )
      )

      yield* Effect.acquireRelease(
        Effect.sync(() =>
          commits.listen(() => {
            if (followers > 0) Queue.offerUnsafe(committed, undefined)
          })
        ),
        (stop) => Effect.sync(stop)
      )
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Queue.take(committed), look)))

      const watch: AuthorityWatch = {
        seen: () => version,
        changedSince: (seen) =>
          Effect.callback<void>((resume) => {
            if (version !== seen) return resume(Effect.void)
            const woken = () => resume(Effect.void)
            waiting.add(woken)
            return Effect.sync(() => waiting.delete(woken))
          })
      }

      return AuthorityChanges.of({
        follow: Effect.as(
          Effect.acquireRelease(
            Effect.sync(() => {
              followers++
            }),
            () =>
              Effect.sync(() => {
                followers--
              })
          ),
          watch
        )
      })
    })
  )
}

/**
 * Fails as soon as the authority that `check` requires is lost. Checks immediately, in case the authority was lost earlier,
 * and then after each change. If the authority can expire, also checks at the given interval.
 */
export const untilRefused = <E, R>(
  { follow }: AuthorityChanges["Service"],
  check: Effect.Effect<void, E, R>,
  every: Duration.Input = "Infinity"
): Effect.Effect<never, E, R> =>
  Effect.scoped(
    Effect.flatMap(follow, ({ changedSince, seen }) =>
      Effect.suspend(() => {
        const moment = seen()
        return Effect.andThen(check, Effect.timeoutOption(changedSince(moment), every))
      }).pipe(Effect.forever)
    )
  )
