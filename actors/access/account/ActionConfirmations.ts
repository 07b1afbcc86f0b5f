import { Clock, Context, DateTime, Effect, Layer, type Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import {
  type ActionConfirmation,
  ConfirmableAction,
  type WaitingConfirmation
} from "../../../schema/records/ActionConfirmation.ts"
import { ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import { Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { retention } from "../../../schema/records/Retention.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { secretHash } from "../../base/credential/BearerSecret.ts"
import { holderOf, type Principal } from "../../base/credential/Principal.ts"
import { rowShape, table } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { displayUserCode, mintOneTimeSecret, mintUserCode, normaliseUserCode } from "../issuer/IdentitySecrets.ts"
import type { ConfirmedSession } from "./Confirmations.ts"
import { Sessions } from "./Sessions.ts"

const AskerKind = Schema.Literals(["token", "application"])

/** Confirmations that programs have requested with tokens. `holder` is the credential that may use the confirmation. */
export const ActionConfirmationRow = table("action_confirmations", {
  secret_hash: Schema.String,
  user_code_digest: Schema.String,
  subject: Subject,
  holder: Schema.String,
  asker_kind: AskerKind,
  asker_name: Schema.String,
  workspace_id: WorkspaceId,
  action: ConfirmableAction,
  target_id: Schema.String,
  status: Schema.Literals(["pending", "approved", "denied", "used"]),
  /** The request that used the confirmation. */
  used_by: Schema.NullOr(Schema.String),
  interval_seconds: Schema.Int,
  last_polled_at: Schema.NullOr(Timestamp),
  created_at: Timestamp,
  expires_at: Timestamp
})

/** Minimum number of seconds between two polls. */
const pollSeconds = 2

const targets = {
  "capsule.export": { kind: "capsule", noun: "Capsule" },
  "source.hook_secret.renew": { kind: "source", noun: "Source" }
} as const

const Named = rowShape({ name: Schema.String, handle: Schema.String })
const AskerName = rowShape({ name: Schema.String })
const PersonKind = rowShape({ kind: Schema.String })

/** One action on one record. */
export interface ConfirmedAction {
  readonly action: ConfirmableAction
  readonly targetId: string
}

/** The error if a token is used without a confirmation. The message explains how to get a confirmation. */
const unconfirmed = new ApiError({
  code: "reauthentication_required",
  message:
    "A token needs its person's confirmation for this action: request a confirmation (`POST /api/v1/confirmations`), let the person approve it in the browser, and repeat the request with its code in `x-svc-confirmation`. A code is valid for one request, for its action and record, for ten minutes."
})

const waitingNowhere = () =>
  new ApiError({
    code: "not_found",
    message:
      "No confirmation waits under this code: it is mistyped, belongs to another person, was decided, or ended after ten minutes. Begin again in the terminal."
  })

/**
 * Confirmations of individual actions. A program requests one with its token. The token's owner sees the purpose in the
 * browser, and approves or denies it in a session in which they have recently confirmed their identity. The program then
 * sends one request with the confirmation. A confirmation is valid for one credential, one action and one record, and
 * expires after ten minutes.
 */
export class ActionConfirmations extends Context.Service<
  ActionConfirmations,
  {
    /**
     * Fails with `not_found` if the Workspace has no such record, and with `failed_precondition` if the caller's token does
     * not belong to a person.
     */
    readonly begin: (
      principal: Pick<Principal, "credential" | "credentialId" | "grantId" | "subject">,
      asked: ConfirmedAction & { readonly workspaceId: WorkspaceId }
    ) => Effect.Effect<
      {
        readonly code: Redacted.Redacted
        readonly userCode: string
        readonly expiresAt: string
        readonly interval: number
      },
      ApiError
    >
    /**
     * Returns the status to the credential that requested the confirmation. Fails with `rate_limited` if the credential
     * polls too often, and increases the required interval in that case.
     */
    readonly poll: (
      principal: Pick<Principal, "credentialId" | "grantId">,
      code: Redacted.Redacted
    ) => Effect.Effect<ActionConfirmation, ApiError>
    /** Returns the pending confirmation for the code that this person entered. */
    readonly waiting: (subject: string, userCode: string) => Effect.Effect<WaitingConfirmation, ApiError>
    /**
     * Records the decision. Before an approval, the caller must check that the person has confirmed their identity in this
     * session.
     */
    readonly decide: (session: ConfirmedSession, userCode: string, isApproved: boolean) => Effect.Effect<void, ApiError>
    /**
     * Fails with `reauthentication_required` unless the credential may now perform the action with this code. Changes
     * nothing.
     */
    readonly require: (
      principal: Pick<Principal, "credentialId" | "grantId" | "subject">,
      code: Redacted.Redacted | undefined,
      asked: ConfirmedAction
    ) => Effect.Effect<void, ApiError>
    /**
     * Like `require`, but runs in the transaction of the action. The confirmation is used if and only if the transaction
     * commits.
     */
    readonly use: (
      principal: Pick<Principal, "credentialId" | "grantId" | "subject">,
      code: Redacted.Redacted | undefined,
      asked: ConfirmedAction,
      requestId: string
    ) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/access/account/ActionConfirmations") {
  static readonly layer = Layer.effect(
    ActionConfirmations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const audit = yield* Audit
      const sessions = yield* Sessions
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)
      // Uses a keyed digest, because a code has only 34 bits: a plain digest could be reversed by trying every code.
      const digestOf = (userCode: string) => vault.mac("confirmation-user-code", userCode)

      /** Finds the record of an action and the record's Workspace. */
      const named = Effect.fnUntraced(function* (
        action: ConfirmableAction,
        targetId: string,
        workspaceId: WorkspaceId
      ) {
        const { kind, noun } = targets[action]
        const rows =
          kind === "capsule"
            ? Named.rows(sql)`SELECT c.name, w.handle FROM capsules c JOIN workspaces w ON w.id = c.workspace_id
                WHERE c.id = ${targetId} AND c.workspace_id = ${workspaceId}`
            : Named.rows(sql)`SELECT s.name, w.handle FROM sources s JOIN workspaces w ON w.id = s.workspace_id
                WHERE s.id = ${targetId} AND s.workspace_id = ${workspaceId}`
        const [found] = yield* Effect.orDie(rows)
        return found ?? (yield* notFound(noun))
      })

      const asker = Effect.fnUntraced(function* ({ credential, credentialId }: Parameters<Begin>[0]) {
        if (credential === "token") {
          const [token] = yield* AskerName.rows(sql)`SELECT name FROM access_tokens WHERE token_id = ${credentialId}`
          return { asker_kind: "token", asker_name: token?.name ?? credentialId } as const
        }
        if (credential !== "oauth") {
          return yield* failedPrecondition(
            "A person with a session confirms at `/auth/confirmation`. Only a token needs a confirmation of one action."
          )
        }
        const [client] = yield* AskerName.rows(
          sql
        )`SELECT client_id AS name FROM oauth_access_tokens WHERE id = ${credentialId}`
        return { asker_kind: "application", asker_name: client?.name ?? credentialId } as const
      })

      const begin = Effect.fn("ActionConfirmations.begin")(function* (
        principal: Parameters<Begin>[0],
        { action, targetId, workspaceId }: Parameters<Begin>[1]
      ) {
        const [owner] = yield* PersonKind.rows(sql)`SELECT kind FROM users WHERE subject = ${principal.subject}`
        if (owner?.kind !== "person") {
          return yield* failedPrecondition("Only a person can confirm this, and the token belongs to an automation.")
        }
        const asking = yield* asker(principal)
        yield* named(action, targetId, workspaceId)
        const code = yield* withRandom(mintOneTimeSecret("svcf_"))
        const userCode = yield* withRandom(mintUserCode)
        const at = yield* DateTime.now
        const expiresAt = DateTime.formatIso(DateTime.addDuration(at, retention.actionConfirmation.after))
        yield* sql`INSERT INTO action_confirmations ${ActionConfirmationRow.values(sql, {
          secret_hash: secretHash(code),
          user_code_digest: yield* digestOf(userCode),
          subject: Subject.make(principal.subject),
          holder: holderOf(principal),
          ...asking,
          workspace_id: workspaceId,
          action,
          target_id: targetId,
          status: "pending",
          used_by: null,
          interval_seconds: pollSeconds,
          last_polled_at: null,
          created_at: DateTime.formatIso(at),
          expires_at: expiresAt
        })}`
        return { code, userCode: displayUserCode(userCode), expiresAt, interval: pollSeconds }
      }, transaction(sql))

      const poll = Effect.fn("ActionConfirmations.poll")(function* (
        principal: Parameters<Poll>[0],
        code: Redacted.Redacted
      ) {
        const hash = secretHash(code)
        const polled = yield* Effect.gen(function* () {
          const [row] = yield* ActionConfirmationRow.rows(sql)`SELECT * FROM action_confirmations
            WHERE secret_hash = ${hash} AND holder = ${holderOf(principal)}`
          if (row === undefined) return yield* notFound("Confirmation")
          const at = yield* now
          const millis = yield* Clock.currentTimeMillis
          const since = row.last_polled_at === null ? Infinity : millis - Date.parse(row.last_polled_at)
          const isTooFast = since < row.interval_seconds * 1000
          const interval = row.interval_seconds + (isTooFast ? pollSeconds : 0)
          yield* sql`UPDATE action_confirmations SET last_polled_at = ${at}, interval_seconds = ${interval}
            WHERE secret_hash = ${hash}`
          const isOver = row.expires_at <= at && row.status !== "used"
          return { isTooFast, interval, status: isOver ? "expired" : row.status, expiresAt: row.expires_at } as const
        }).pipe(transaction(sql))
        const { interval, isTooFast, ...answer } = polled
        if (!isTooFast) return { ...answer, interval }
        return yield* new ApiError({
          code: "rate_limited",
          message: `The polls are too fast. Wait ${interval} seconds between two.`,
          retryAfter: interval
        })
      })

      const pending = Effect.fnUntraced(function* (subject: string, typed: string) {
        const userCode = normaliseUserCode(typed)
        if (userCode === undefined) return yield* waitingNowhere()
        const [row] = yield* Effect.orDie(
          ActionConfirmationRow.rows(sql)`SELECT * FROM action_confirmations
            WHERE user_code_digest = ${yield* digestOf(userCode)} AND subject = ${subject} AND status = 'pending'
              AND expires_at > ${yield* now}`
        )
        return row === undefined ? yield* waitingNowhere() : { row, userCode }
      })

      /** Returns the row that a request with this code may use, or `undefined` if there is none. */
      const usable = Effect.fnUntraced(function* (
        principal: Parameters<Requiring>[0],
        code: Redacted.Redacted | undefined,
        { action, targetId }: ConfirmedAction
      ) {
        if (code === undefined) return undefined
        const [row] = yield* Effect.orDie(
          ActionConfirmationRow.rows(sql)`SELECT * FROM action_confirmations
            WHERE secret_hash = ${secretHash(code)} AND holder = ${holderOf(principal)}
              AND subject = ${principal.subject} AND action = ${action} AND target_id = ${targetId}
              AND status IN ('approved', 'used') AND expires_at > ${yield* now}`
        )
        return row
      })

      return ActionConfirmations.of({
        begin,
        poll,
        waiting: Effect.fn("ActionConfirmations.waiting")(function* (subject, typed) {
          const { row, userCode } = yield* pending(subject, typed)
          const { handle, name } = yield* named(row.action, row.target_id, row.workspace_id)
          return {
            userCode: displayUserCode(userCode),
            action: row.action,
            workspace: { id: row.workspace_id, handle },
            target: { kind: targets[row.action].kind, id: row.target_id, name },
            asker: { kind: row.asker_kind, name: row.asker_name },
            createdAt: row.created_at,
            expiresAt: row.expires_at
          }
        }),
        decide: Effect.fn("ActionConfirmations.decide")(function* (session, typed, isApproved) {
          yield* sessions.requireOpen(session.subject, session.sessionId)
          const { row } = yield* pending(session.subject, typed)
          yield* sql`UPDATE action_confirmations SET status = ${isApproved ? "approved" : "denied"}
            WHERE secret_hash = ${row.secret_hash}`
          yield* audit.append({
            workspaceId: row.workspace_id,
            actor: { kind: "user", subject: session.subject },
            action: isApproved ? "confirmation.approve" : "confirmation.deny",
            target: { kind: targets[row.action].kind, id: row.target_id },
            data: { action: row.action, askerKind: row.asker_kind, asker: row.asker_name },
            requestId: session.requestId
          })
        }, transaction(sql)),
        require: Effect.fn("ActionConfirmations.require")(function* (principal, code, asked) {
          const row = yield* usable(principal, code, asked)
          if (row === undefined || row.status === "used") return yield* unconfirmed
        }),
        use: Effect.fn("ActionConfirmations.use")(function* (principal, code, asked, requestId) {
          const row = yield* usable(principal, code, asked)
          // Allow the same request to use the confirmation again, because one request may consist of several transactions.
          if (row === undefined || (row.status === "used" && row.used_by !== requestId)) return yield* unconfirmed
          if (row.status === "used") return
          yield* Effect.orDie(sql`UPDATE action_confirmations SET status = 'used', used_by = ${requestId}
            WHERE secret_hash = ${row.secret_hash}`)
        })
      })
    })
  )
}

type Service = ActionConfirmations["Service"]
type Begin = Service["begin"]
type Poll = Service["poll"]
type Requiring = Service["require"]
