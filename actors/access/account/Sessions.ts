import { Clock, Context, DateTime, Duration, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { retention } from "../../../schema/records/Retention.ts"
import { type ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import { Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { Audit, type AuditEntry } from "../../base/audit/Audit.ts"
import { CommitCache } from "../../base/database/CommitCache.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { withoutWriteLock } from "../../base/database/WriteLock.ts"
import { newId, now } from "../../base/Identity.ts"
import { Grants } from "../issuer/Grants.ts"
import { isWellFormed, mintSecret, secretHash } from "../../base/credential/BearerSecret.ts"
import { unauthenticated } from "../../base/credential/CredentialRefusal.ts"
import type { Principal } from "../../base/credential/Principal.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Sessions of signed-in people. */
export const SessionRow = table("account_sessions", {
  id: Schema.String,
  secret_hash: Schema.String,
  subject: Subject,
  workspace_id: Schema.NullOr(WorkspaceId),
  user_agent: Schema.NullOr(Schema.String),
  method: Schema.String,
  created_at: Timestamp,
  last_seen_at: Timestamp,
  expires_at: Timestamp,
  revoked_at: Schema.NullOr(Timestamp),
  confirmed_at: Schema.NullOr(Timestamp)
})
export type SessionRow = RowOf<typeof SessionRow.columns>

/** Lifetime of a session after its last use. */
export const sessionLifetime = retention.session.after
// Minimum interval between two extensions of a session. Every extension is a write to the database. Extending once an hour
// is enough for a lifetime of 30 days, and avoids a write on every request.
const slideEveryMillis = Duration.toMillis(Duration.hours(1))

export const SessionMethod = Schema.Literals(["setup", "password", "passkey", "upstream"])
export type SessionMethod = typeof SessionMethod.Type

/** The methods that a person can use to confirm their identity. */
export type ConfirmationMethod = Exclude<SessionMethod, "setup">

/**
 * Returns true for methods that require the person to be present. A provider may sign in a person who last authenticated long
 * ago.
 */
const provesPresence = (method: SessionMethod): boolean => method !== "upstream"

/** A session as shown to its owner. */
export const AccountSession = Schema.Struct({
  id: Schema.String,
  method: SessionMethod,
  userAgent: Schema.NullOr(Schema.String),
  createdAt: Timestamp,
  lastSeenAt: Timestamp,
  expiresAt: Timestamp
})
export type AccountSession = typeof AccountSession.Type

const SessionId = Schema.String

const AuthRow = Schema.Struct({
  id: Schema.String,
  subject: Subject,
  workspace_id: Schema.NullOr(WorkspaceId),
  last_seen_at: Timestamp,
  expires_at: Timestamp,
  confirmed_at: Schema.NullOr(Timestamp)
})

/** Converts a session row to its principal, and to the times that every request checks. */
const usableSession = (row: typeof AuthRow.Type) => {
  const principal: Principal = {
    credential: "session",
    credentialId: row.id,
    subject: row.subject,
    scopes: "all",
    ...(row.confirmed_at === null ? {} : { confirmedAt: Date.parse(row.confirmed_at) }),
    ...(row.workspace_id === null ? {} : { boundWorkspaceId: row.workspace_id })
  }
  return { principal, lastSeenMillis: Date.parse(row.last_seen_at), expiresMillis: Date.parse(row.expires_at) }
}

export interface OpenSession {
  readonly secret: Redacted.Redacted
  readonly session: AccountSession
}

/**
 * Sessions of signed-in people. The operation history records when sessions start and end. The cookie contains the secret;
 * the database contains only its digest. Grants to applications end with the session in which they were made, unless they
 * were meant to outlive the session.
 */
export class Sessions extends Context.Service<
  Sessions,
  {
    /**
     * Opens a 30-day session that is extended on use. Revokes the browser's previous session, given in `replaces`. If the
     * previous session belonged to the same person, its grants to applications move to the new session.
     */
    readonly open: (options: {
      readonly subject: string
      readonly method: SessionMethod
      readonly userAgent?: string | undefined
      /** Restricts the session to one Workspace. */
      readonly workspaceId?: WorkspaceId | undefined
      readonly replaces?: Redacted.Redacted | undefined
      readonly requestId?: string | undefined
    }) => Effect.Effect<OpenSession>
    /** Fails with `unauthenticated` unless the secret belongs to an open session of an active account. */
    readonly authenticate: (secret: Redacted.Redacted) => Effect.Effect<Principal, ApiError>
    /**
     * Records that the person has just confirmed their identity. Fails with `unauthenticated` if the session is closed or belongs
     * to somebody else.
     */
    readonly confirm: (
      subject: string,
      sessionId: string,
      method: ConfirmationMethod,
      requestId?: string
    ) => Effect.Effect<void, ApiError>
    /**
     * Fails with `unauthenticated` if the session is closed or belongs to another account, or if the account is locked. Call it
     * in the transaction of a change that the session requested earlier.
     */
    readonly requireOpen: (subject: string, sessionId: string) => Effect.Effect<void, ApiError>
    /** Returns the person's open sessions, oldest first. */
    readonly list: (subject: string) => Effect.Effect<ReadonlyArray<AccountSession>>
    /** Revokes one of the person's own sessions. Fails with `not_found` if the session is not the person's. */
    readonly revoke: (subject: string, sessionId: string, requestId?: string) => Effect.Effect<void, ApiError>
    /**
     * Revokes all sessions of a person, except `exceptId`. If `exceptId` is absent, also revokes the person's grants to
     * applications, including those with `offline_access`.
     */
    readonly revokeAll: (subject: string, exceptId?: string, requestId?: string) => Effect.Effect<void>
  }
>()("svc/actors/access/account/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const audit = yield* Audit
      const grants = yield* Grants
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)
      const scope = yield* Effect.scope
      const endOfLife = Effect.map(DateTime.now, (at) => DateTime.formatIso(DateTime.addDuration(at, sessionLifetime)))

      const findOpen = SqlSchema.findAll({
        Request: Schema.String,
        Result: AuthRow,
        execute: (hash) =>
          read`SELECT s.id, s.subject, s.workspace_id, s.last_seen_at, s.expires_at, s.confirmed_at
            FROM account_sessions s JOIN users u ON u.subject = s.subject
            WHERE s.secret_hash = ${hash} AND s.revoked_at IS NULL AND u.status = 'active' AND u.kind = 'person'`
      })
      const memory = yield* CommitCache
      // Caches open sessions. The expiry of a cached session is checked on every use.
      const openSession = memory.untilCommit((hash) =>
        Effect.map(Effect.orDie(findOpen(hash)), ([row]) => row && usableSession(row))
      )

      const findOwn = SqlSchema.findAll({
        Request: Schema.Struct({ subject: Schema.String, at: Schema.String }),
        Result: AccountSession,
        execute: ({ subject, at }) =>
          read`SELECT id, method, user_agent AS "userAgent", created_at AS "createdAt", last_seen_at AS "lastSeenAt",
              expires_at AS "expiresAt"
            FROM account_sessions WHERE subject = ${subject} AND revoked_at IS NULL AND expires_at > ${at}
            ORDER BY created_at, id`
      })

      const slide = Effect.fnUntraced(
        function* (id: string) {
          yield* sql`UPDATE account_sessions SET last_seen_at = ${yield* now}, expires_at = ${yield* endOfLife}
          WHERE id = ${id} AND revoked_at IS NULL`
          // Writes outside the caller's transaction, because that transaction must not include this write.
        },
        (writing) =>
          Effect.updateContext(withoutWriteLock(writing), (context: Context.Context<never>) =>
            Context.omit(sql.transactionService)(context)
          )
      )

      /** Revokes the browser's previous session, regardless of its owner. */
      const replace = Effect.fnUntraced(function* (
        replaced: Redacted.Redacted,
        subject: string,
        session: AccountSession
      ) {
        const [old] = yield* SessionRow.some(sql, "id", "subject")`UPDATE account_sessions
          SET revoked_at = ${session.createdAt}
          WHERE secret_hash = ${secretHash(replaced)} AND revoked_at IS NULL RETURNING id, subject`
        if (old === undefined) return
        yield* old.subject === subject ? grants.continueSession(old.id, session.id) : grants.endSession(old.id)
      })

      const note = (action: string, subject: string, target: AuditEntry["target"], rest: Partial<AuditEntry>) =>
        audit.append({ workspaceId: null, actor: { kind: "user", subject }, action, target, ...rest })

      return Sessions.of({
        open: Effect.fn("Sessions.open")(
          function* (options) {
            const secret = yield* mintSecret("session")
            const createdAt = yield* now
            const session: AccountSession = {
              id: yield* newId(SessionId, "ses"),
              method: options.method,
              userAgent: options.userAgent?.slice(0, 256) ?? null,
              createdAt,
              lastSeenAt: createdAt,
              expiresAt: yield* endOfLife
            }
            if (options.replaces !== undefined) yield* replace(options.replaces, options.subject, session)
            yield* sql`INSERT INTO account_sessions ${SessionRow.values(sql, {
              id: session.id,
              secret_hash: secretHash(secret),
              subject: options.subject,
              workspace_id: options.workspaceId ?? null,
              user_agent: session.userAgent,
              method: session.method,
              created_at: createdAt,
              last_seen_at: createdAt,
              expires_at: session.expiresAt,
              revoked_at: null,
              confirmed_at: provesPresence(session.method) ? createdAt : null
            })}`
            yield* note(
              "session.open",
              options.subject,
              { kind: "session", id: session.id },
              {
                data: { method: options.method },
                requestId: options.requestId
              }
            )
            return { secret, session }
          },
          transaction(sql),
          withRandom
        ),
        authenticate: (secret) =>
          isWellFormed("session", Redacted.value(secret))
            ? Effect.flatMap(openSession(secretHash(secret)), (session) =>
                Effect.flatMap(Clock.currentTimeMillis, (millis) => {
                  if (session === undefined || session.expiresMillis <= millis) return unauthenticated()
                  const { lastSeenMillis, principal } = session
                  return millis - lastSeenMillis > slideEveryMillis
                    ? Effect.as(Effect.forkIn(Effect.ignore(slide(principal.credentialId)), scope), {
                        ...principal,
                        renewed: true
                      })
                    : Effect.succeed(principal)
                })
              )
            : unauthenticated(),
        confirm: Effect.fn("Sessions.confirm")(function* (subject, sessionId, method, requestId) {
          const at = yield* now
          const open = yield* sql`UPDATE account_sessions SET ${SessionRow.changes(sql, { confirmed_at: at })}
            WHERE id = ${sessionId} AND subject = ${subject} AND revoked_at IS NULL AND expires_at > ${at} RETURNING id`
          if (open.length === 0) return yield* unauthenticated()
          yield* note("session.confirm", subject, { kind: "session", id: sessionId }, { data: { method }, requestId })
        }, transaction(sql)),
        requireOpen: Effect.fn("Sessions.requireOpen")(function* (subject, sessionId) {
          const open = yield* sql`SELECT s.id FROM account_sessions s JOIN users u ON u.subject = s.subject
            WHERE s.id = ${sessionId} AND s.subject = ${subject} AND s.revoked_at IS NULL AND s.expires_at > ${yield* now}
              AND u.status = 'active'`.pipe(Effect.orDie)
          if (open.length === 0) return yield* unauthenticated()
        }),
        list: Effect.fn("Sessions.list")(function* (subject) {
          return yield* Effect.orDie(findOwn({ subject, at: yield* now }))
        }),
        revoke: Effect.fn("Sessions.revoke")(function* (subject, sessionId, requestId) {
          const open = yield* sql`UPDATE account_sessions SET revoked_at = ${yield* now}
            WHERE id = ${sessionId} AND subject = ${subject} AND revoked_at IS NULL RETURNING id`
          if (open.length > 0) {
            yield* grants.endSession(sessionId)
            return yield* note("session.revoke", subject, { kind: "session", id: sessionId }, { requestId })
          }
          const ended = yield* sql`SELECT id FROM account_sessions WHERE id = ${sessionId} AND subject = ${subject}`
          if (ended.length === 0) return yield* notFound("Session")
        }, transaction(sql)),
        revokeAll: Effect.fn("Sessions.revokeAll")(function* (subject, exceptId, requestId) {
          const ended = yield* SessionRow.some(sql, "id")`UPDATE account_sessions SET revoked_at = ${yield* now}
            WHERE subject = ${subject} AND revoked_at IS NULL AND id <> ${exceptId ?? ""} RETURNING id`
          yield* exceptId === undefined
            ? grants.revokeSubject(subject)
            : Effect.forEach(ended, ({ id }) => grants.endSession(id), { discard: true })
          yield* note(
            "session.revoke_all",
            subject,
            { kind: "user", id: subject },
            { data: { ended: ended.length }, requestId }
          )
        }, transaction(sql))
      })
    })
  )
}
