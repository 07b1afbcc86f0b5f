import { Context, DateTime, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { retention } from "../../../schema/records/Retention.ts"
import { ApiError, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { limitsOf } from "../../../schema/records/TokenLimits.ts"
import type { AccountToken, AccountTokenInventory } from "../../../schema/records/AccountToken.ts"
import { AccessTokenId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { newId, now } from "../../base/Identity.ts"
import { type CursorBinding, Cursors } from "../../base/paging/Cursors.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"
import { Memberships } from "../../ledger/workspace/Memberships.ts"
import { accessTokenColumns, AccessTokenRow } from "./TokenAuthority.ts"
import { mintSecret, secretHash } from "../../base/credential/BearerSecret.ts"
import { ExtensionScopes, scopeCatalog, type ScopeEntry, scopeRefusal } from "./ScopeCatalog.ts"
import { ScopesJson, TokenRow } from "./TokenRow.ts"

/** The last token of the previous page. */
interface TokenAnchor {
  readonly createdAt: string
  readonly tokenId: string
}

interface TokenPage {
  /** Number of the subject's active and revoked tokens, on all pages. */
  readonly total: number
  readonly tokens: ReadonlyArray<AccessTokenRow>
  readonly more: boolean
}

// Even an empty page has one row, which contains the counts; its token columns are null.
const Counts = Schema.Struct({ total: Schema.Int, anchors: Schema.Int, token_id: Schema.Null })
const Counted = Schema.Struct({ total: Schema.Int, anchors: Schema.Int, ...AccessTokenRow.fields })

/**
 * Reads the count, the cursor's anchor and `limit + 1` rows in one statement, so that they are consistent. Sorts the rows by
 * `created_at`, then `token_id`. Fails with `invalid_request` if the anchor is no longer one of the subject's tokens.
 */
const readTokenPage = Effect.fn("readTokenPage")(function* (
  subject: string,
  limit: number,
  anchor: TokenAnchor | undefined
) {
  const read = yield* ReadSql
  const after =
    anchor === undefined ? read`1 = 1` : read`(created_at, token_id) > (SELECT created_at, token_id FROM anchor)`
  const rows = yield* SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Union([Counted, Counts]),
    execute:
      () => read`WITH mine AS (SELECT ${read.literal(accessTokenColumns)} FROM access_tokens WHERE subject = ${subject}),
      anchor AS (
        SELECT created_at, token_id FROM mine
        WHERE token_id = ${anchor?.tokenId ?? ""} AND created_at = ${anchor?.createdAt ?? ""}
      ),
      page AS (SELECT * FROM mine WHERE ${after} ORDER BY created_at, token_id LIMIT ${limit + 1})
      SELECT counts.total, counts.anchors, page.*
      FROM (SELECT (SELECT COUNT(*) FROM mine) AS total, (SELECT COUNT(*) FROM anchor) AS anchors) AS counts
      LEFT JOIN page ON 1 = 1
      ORDER BY page.created_at, page.token_id`
  })(undefined).pipe(Effect.orDie)
  const [first] = rows
  if (anchor !== undefined && first?.anchors !== 1) {
    return yield* invalidRequest("The cursor's token does not exist any more. Start again without a cursor.")
  }
  const tokens = rows.flatMap(({ total: _total, anchors: _anchors, ...token }) =>
    token.token_id === null ? [] : [token]
  )
  return {
    total: first?.total ?? 0,
    tokens: tokens.slice(0, limit),
    more: tokens.length > limit
  } satisfies TokenPage
})

const defaultLifetime = retention.personalToken.after
const longestLifetime = retention.longestPersonalToken.after
const publicPrefixLength = 12

export interface NewAccessToken {
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  readonly workspaceId?: WorkspaceId | undefined
  /** Expiry time in ISO 8601, at most 366 days from now. Defaults to 90 days from now. */
  readonly expiresAt?: string | undefined
  /** The creator of an automation's token; absent for a person's own token. */
  readonly createdBy?: string | undefined
}

export interface CreatedAccessToken {
  /** The secret, which svc returns only once. */
  readonly secret: Redacted.Redacted
  readonly token: AccountToken
}

/** Personal access tokens of one subject. */
export class AccessTokens extends Context.Service<
  AccessTokens,
  {
    readonly catalog: ReadonlyArray<ScopeEntry>
    /**
     * Fails with `invalid_request` for invalid scopes or times, with `permission_denied` if the owner is not a member of the
     * Workspace, and with `not_found` if the account does not exist or is locked.
     */
    readonly create: (
      context: CommandContext,
      subject: string,
      request: NewAccessToken
    ) => Effect.Effect<CreatedAccessToken, ApiError>
    /** Idempotent. Fails with `not_found` if the token belongs to another subject. */
    readonly revoke: (
      context: CommandContext,
      subject: string,
      tokenId: AccessTokenId
    ) => Effect.Effect<AccountToken, ApiError>
    /** Returns all tokens, oldest first. */
    readonly list: (subject: string, page: PageRequest) => Effect.Effect<Page<AccountToken>, ApiError>
    /**
     * Returns the versioned inventory. Fails with `invalid_request` if the cursor is malformed or refers to a deleted token.
     */
    readonly inventory: (subject: string, page: PageRequest) => Effect.Effect<AccountTokenInventory, ApiError>
  }
>()("svc/actors/access/account/AccessTokens") {
  static readonly layer = Layer.effect(
    AccessTokens,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* ReadSql
  const audit = yield* Audit
  const cursors = yield* Cursors
  const memberships = yield* Memberships
  const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)
  const catalog = scopeCatalog(yield* ExtensionScopes)

  const findOwn = SqlSchema.findAll({
    Request: Schema.Struct({ subject: Schema.String, tokenId: AccessTokenId }),
    Result: AccessTokenRow,
    execute: ({ subject, tokenId }) =>
      sql`SELECT ${sql.literal(accessTokenColumns)} FROM access_tokens WHERE token_id = ${tokenId} AND subject = ${subject}`
  })

  const expiry = Effect.fnUntraced(function* (asked: string | undefined) {
    const at = yield* DateTime.now
    if (asked === undefined) return DateTime.formatIso(DateTime.addDuration(at, defaultLifetime))
    const latest = DateTime.formatIso(DateTime.addDuration(at, longestLifetime))
    return asked > DateTime.formatIso(at) && asked <= latest
      ? asked
      : yield* invalidRequest("expires_at: give a time in the future, at most 366 days from now.")
  })

  /** Refuses scopes for a Project in another Workspace, because the token would silently grant no access to the Project. */
  const requireProjects = Effect.fnUntraced(function* ({ scopes, workspaceId }: NewAccessToken) {
    const named = limitsOf(scopes)?.projectIds ?? []
    if (named.length === 0) return
    const found = yield* Effect.orDie(
      sql`SELECT id FROM projects WHERE workspace_id = ${workspaceId ?? null} AND ${sql.in("id", named)}`
    )
    if (found.length < named.length) return yield* invalidRequest("scopes: the Workspace has no such Project.")
  })

  const insert = Effect.fnUntraced(function* (
    subject: string,
    request: NewAccessToken,
    secret: Redacted.Redacted,
    expiresAt: string
  ) {
    const tokenId = yield* newId(AccessTokenId, "pat").pipe(withRandom)
    yield* sql`INSERT INTO access_tokens ${TokenRow.values(sql, {
      token_id: tokenId,
      secret_hash: secretHash(secret),
      subject,
      name: request.name,
      prefix: Redacted.value(secret).slice(0, publicPrefixLength),
      scopes: ScopesJson.write(request.scopes),
      workspace_id: request.workspaceId ?? null,
      created_at: yield* now,
      expires_at: expiresAt,
      revoked_at: null,
      last_used_at: null,
      created_by: request.createdBy ?? null
    })}`
    return tokenId
  })

  const create = Effect.fn("AccessTokens.create")(function* (
    context: CommandContext,
    subject: string,
    request: NewAccessToken
  ) {
    const refusal = scopeRefusal(catalog, request.scopes, request.workspaceId !== undefined)
    if (refusal !== undefined) return yield* refusal
    const secret = yield* mintSecret("personalToken").pipe(withRandom)
    const token = yield* Effect.gen(function* () {
      if (request.workspaceId !== undefined && Option.isNone(yield* memberships.role(subject, request.workspaceId))) {
        return yield* new ApiError({
          code: "permission_denied",
          message: "workspace_id: the owner of the token is no active member of this Workspace."
        })
      }
      yield* requireProjects(request)
      const expiresAt = yield* expiry(request.expiresAt)
      const owner = yield* Effect.orDie(sql`SELECT subject FROM users WHERE subject = ${subject} AND status = 'active'`)
      if (owner.length === 0) return yield* notFound("Account")
      const tokenId = yield* insert(subject, request, secret, expiresAt)
      yield* audit.append({
        workspaceId: request.workspaceId ?? null,
        actor: context.actor,
        action: "token.create",
        target: { kind: "access_token", id: tokenId },
        data: { scopes: request.scopes, expiresAt },
        requestId: context.requestId
      })
      const [row] = yield* Effect.orDie(findOwn({ subject, tokenId }))
      return row ?? (yield* notFound("Token"))
    }).pipe(transaction(sql))
    return { secret, token } satisfies CreatedAccessToken
  })

  const revoke = Effect.fn("AccessTokens.revoke")(function* (
    context: CommandContext,
    subject: string,
    tokenId: AccessTokenId
  ) {
    const at = yield* now
    const revoked = yield* sql`UPDATE access_tokens SET revoked_at = ${at}
      WHERE token_id = ${tokenId} AND subject = ${subject} AND revoked_at IS NULL RETURNING token_id`
    const [row] = yield* Effect.orDie(findOwn({ subject, tokenId }))
    if (row === undefined) return yield* notFound("Token")
    if (revoked.length > 0) {
      yield* audit.append({
        workspaceId: row.workspace_id,
        actor: context.actor,
        action: "token.revoke",
        target: { kind: "access_token", id: tokenId },
        requestId: context.requestId
      })
    }
    return row
  }, transaction(sql))

  const readPage = Effect.fnUntraced(function* (binding: CursorBinding, page: PageRequest) {
    const [createdAt, tokenId] = page.cursor === undefined ? [] : yield* cursors.decode(binding, page.cursor, 2)
    const anchor = createdAt === undefined || tokenId === undefined ? undefined : { createdAt, tokenId }
    const found = yield* readTokenPage(binding.subject, page.limit, anchor).pipe(Effect.provideService(ReadSql, read))
    const last = found.tokens.at(-1)
    const nextCursor =
      found.more && last !== undefined ? yield* cursors.encode(binding, [last.created_at, last.token_id]) : undefined
    return { ...found, nextCursor }
  })

  return AccessTokens.of({
    catalog,
    create,
    revoke,
    list: Effect.fn("AccessTokens.list")(function* (subject, page) {
      // Bind the cursor to the caller as well, because several people may list an automation's tokens.
      const binding = { route: "account.tokens", subject, filter: [page.subject] }
      const { nextCursor, tokens } = yield* readPage(binding, page)
      return { items: tokens, nextCursor }
    }),
    inventory: Effect.fn("AccessTokens.inventory")(function* (subject, page) {
      const found = yield* readPage({ route: "account.tokens.inventory.v1", subject }, page)
      return {
        kind: "svc.account-pat-inventory@v1",
        tokens: found.tokens,
        total: found.total,
        returned: found.tokens.length,
        limit: page.limit,
        truncated: found.more,
        next_cursor: found.nextCursor ?? null
      } as const
    })
  })
})
