import { Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { AccessTokens, type CreatedAccessToken, type NewAccessToken } from "../../actors/access/account/AccessTokens.ts"
import { AddressChanges } from "../../actors/access/account/AddressChanges.ts"
import { Passwords } from "../../actors/access/account/Passwords.ts"
import { SetupLinks } from "../../actors/access/account/SetupLinks.ts"
import { type User, Users } from "../../actors/access/account/Users.ts"
import { Audit } from "../../actors/base/audit/Audit.ts"
import type { CommandContext } from "../../schema/commands/Command.ts"
import { transaction } from "../../actors/base/database/Transaction.ts"
import { newId } from "../../actors/base/Identity.ts"
import { AccountRemoval } from "../../actors/access/member/AccountRemoval.ts"
import { Invitations } from "../../actors/access/member/Invitations.ts"
import { ApiError, failedPrecondition } from "../../schema/errors/ApiError.ts"
import type { AccessTokenId, WorkspaceId } from "../../schema/records/Ids.ts"
import type { Role } from "../../schema/records/Workspace.ts"

export interface Credentials {
  readonly email: string
  readonly password: Redacted.Redacted
}

export interface TokenRequest extends NewAccessToken {
  /** The subject or email address of the account for which the token acts. */
  readonly subject: string
}

export interface InvitationRequest {
  readonly email?: string | undefined
  /** Absent if the account has no Workspace. */
  readonly workspaceId?: WorkspaceId | undefined
  readonly role?: Role | undefined
}

/** A one-time link: `<origin>/setup#<secret>`, or `/join#<secret>` for an invitation. */
export interface IssuedLink {
  readonly secret: Redacted.Redacted
  /** ISO 8601. */
  readonly expiresAt: string
  /** Public origin of the server that issued the link, if a server issued it. */
  readonly origin?: string | undefined
  /** True if svc sends the link to the person by email. */
  readonly mailed?: boolean | undefined
}

export interface ResetRequest {
  readonly email: string
  /**
   * If true, svc emails a second link to the new address. By using the second link, the person proves that they own the
   * address.
   */
  readonly mail?: boolean | undefined
}

/**
 * The operator's account commands, executed by the server that holds the data folder, or directly on the folder. Each command
 * records an audit event `operator.command` with its name, in the same transaction as its changes.
 */
export class AccountCommands extends Context.Service<
  AccountCommands,
  {
    /**
     * Creates an account. The first account operates the installation. Fails with `invalid_request`, or with
     * `failed_precondition` if the address is taken.
     */
    readonly createUser: (
      account: Credentials
    ) => Effect.Effect<{ readonly subject: string; readonly email: string }, ApiError>
    readonly createToken: (request: TokenRequest) => Effect.Effect<CreatedAccessToken, ApiError>
    /** Revokes a token whose secret could not be shown. Fails with `not_found`. */
    readonly withdrawToken: (request: {
      readonly subject: string
      readonly tokenId: AccessTokenId
    }) => Effect.Effect<void, ApiError>
    /** Creates a link for the first account. Fails with `failed_precondition` if an account exists. */
    readonly setupLink: Effect.Effect<IssuedLink, ApiError>
    /**
     * Creates a link to set a new password. Fails with `not_found`, or with `failed_precondition` if the link cannot be
     * emailed.
     */
    readonly resetLink: (request: ResetRequest) => Effect.Effect<IssuedLink, ApiError>
    /**
     * Creates a link for creating an account or joining the Workspace. The operator vouches that the address belongs to the
     * person. Fails with `failed_precondition` while there is no account. Otherwise fails like `Invitations.create`.
     */
    readonly invite: (request: InvitationRequest) => Effect.Effect<IssuedLink, ApiError>
    /**
     * Creates a link that changes the account's address to the address that the operator confirms. Fails like
     * `AddressChanges.issue`.
     */
    readonly addressLink: (request: {
      readonly email: string
      readonly to: string
    }) => Effect.Effect<IssuedLink, ApiError>
    /** Lists all accounts, oldest first. */
    readonly users: Effect.Effect<ReadonlyArray<User>>
    /** Disables an account everywhere at once, or enables it again. Fails with `not_found`. */
    readonly setUserStatus: (request: {
      readonly email: string
      readonly status: "active" | "disabled"
    }) => Effect.Effect<void, ApiError>
    /** Deletes an account. Fails like `AccountRemoval.remove`. */
    readonly deleteUser: (email: string) => Effect.Effect<void, ApiError>
    /** Sets a password and revokes every session of the account. Fails with `not_found` or `invalid_request`. */
    readonly setPassword: (account: Credentials) => Effect.Effect<void, ApiError>
  }
>()("svc/src/operator/AccountCommands") {
  /** `origin` is the origin of every link, if known. */
  static readonly layer = (origin: string | undefined) => Layer.effect(AccountCommands, make(origin))
}

const make = Effect.fnUntraced(function* (origin: string | undefined) {
  const sql = yield* SqlClient.SqlClient
  const users = yield* Users
  const passwords = yield* Passwords
  const removal = yield* AccountRemoval
  const links = yield* SetupLinks
  const addresses = yield* AddressChanges
  const tokens = yield* AccessTokens
  const invitations = yield* Invitations
  const audit = yield* Audit
  const random = yield* SecureRandom.SecureRandom

  /**
   * Runs `work` in one transaction and, in the same transaction, records an audit event with the command and its subject.
   */
  const recorded = Effect.fnUntraced(function* <A, E>(
    command: string,
    work: (context: CommandContext) => Effect.Effect<readonly [result: A, target: { kind: string; id: string }], E>
  ) {
    const requestId = yield* newId(Schema.String, "op").pipe(Effect.provideService(SecureRandom.SecureRandom, random))
    const context: CommandContext = { actor: { kind: "service" }, actorKey: "operator", requestId }
    const [result, target] = yield* Effect.tap(work(context), ([, target]) =>
      audit.append({
        workspaceId: null,
        actor: context.actor,
        action: "operator.command",
        target,
        data: { command },
        requestId
      })
    ).pipe(transaction(sql))
    yield* Effect.logInfo(`Done for an operator: svc ${command}, ${target.kind} ${target.id}`)
    return result
  })

  const findUser = Effect.fnUntraced(function* (email: string) {
    const found = yield* users.findByEmail(email)
    if (Option.isSome(found)) return found.value
    return yield* new ApiError({ code: "not_found", message: `No account has the address ${email}.` })
  })

  return AccountCommands.of({
    createUser: Effect.fn("AccountCommands.createUser")(function* ({ email, password }) {
      const passwordHash = yield* passwords.hash(password)
      return yield* recorded(
        "admin create-user",
        Effect.fnUntraced(function* (context) {
          const isOperator = !(yield* users.exist)
          const user = yield* users.create(context, { email, emailProof: "operator", passwordHash, isOperator })
          return [
            { subject: user.subject, email: user.email },
            { kind: "user", id: user.subject }
          ] as const
        })
      )
    }),
    createToken: Effect.fn("AccountCommands.createToken")(function* ({ subject: account, ...request }) {
      const subject = account.includes("@") ? (yield* findUser(account)).subject : account
      return yield* recorded("admin create-token", (context) =>
        Effect.map(
          tokens.create(context, subject, request),
          (created) => [created, { kind: "access_token", id: created.token.token_id }] as const
        )
      )
    }),
    withdrawToken: Effect.fn("AccountCommands.withdrawToken")(function* ({ subject, tokenId }) {
      yield* recorded("admin create-token", (context) =>
        Effect.map(
          tokens.revoke(context, subject, tokenId),
          (token) => [token, { kind: "access_token", id: tokenId }] as const
        )
      )
    }),
    setupLink: recorded(
      "admin setup-link",
      Effect.fnUntraced(function* () {
        const link = yield* links.issueFirst
        if (Option.isSome(link))
          return [
            { ...link.value, origin },
            { kind: "installation", id: "first-account" }
          ] as const
        return yield* failedPrecondition(
          "An account exists already. Use `svc admin reset-password --email E` for a link to a new password."
        )
      })
    ),
    resetLink: Effect.fn("AccountCommands.resetLink")(function* ({ email, mail = false }) {
      const user = yield* findUser(email)
      return yield* recorded(
        "admin reset-password",
        Effect.fnUntraced(function* () {
          const link = yield* links.issueReset(user.subject, mail)
          if (mail && !link.mailed) {
            return yield* failedPrecondition(
              "The link cannot be mailed: no mail server is set (SVC_SMTP_URL, and SVC_BASE_URL where no server is running), or the address got too many mails within an hour. Repeat it without --mail."
            )
          }
          return [
            { ...link, origin },
            { kind: "user", id: user.subject }
          ] as const
        })
      )
    }),
    invite: Effect.fn("AccountCommands.invite")(function* ({ workspaceId, ...request }) {
      return yield* recorded(
        "admin invite",
        Effect.fnUntraced(function* (context) {
          if (!(yield* users.exist)) {
            return yield* failedPrecondition("There is no account yet. Use `svc admin setup-link` for the first one.")
          }
          const { invitation, mailed, secret } = yield* invitations.create(
            context,
            { workspaceId, acting: "operator" },
            request
          )
          return [
            { secret, expiresAt: invitation.expiresAt, origin, mailed },
            { kind: "invitation", id: invitation.id }
          ] as const
        })
      )
    }),
    addressLink: Effect.fn("AccountCommands.addressLink")(function* ({ email, to }) {
      const { subject } = yield* findUser(email)
      if (Option.isSome(yield* users.findByEmail(to))) {
        return yield* failedPrecondition(`An account with the address ${to} exists already.`)
      }
      return yield* recorded("admin address-link", () =>
        Effect.map(
          addresses.issue(subject, to, "operator"),
          (link) =>
            [
              { ...link, origin },
              { kind: "user", id: subject }
            ] as const
        )
      )
    }),
    users: users.list,
    setUserStatus: Effect.fn("AccountCommands.setUserStatus")(function* ({ email, status }) {
      const { subject } = yield* findUser(email)
      return yield* recorded(`admin users ${status === "active" ? "unlock" : "lock"}`, (context) =>
        Effect.map(users.setStatus(context, subject, status), () => [undefined, { kind: "user", id: subject }] as const)
      )
    }),
    deleteUser: Effect.fn("AccountCommands.deleteUser")(function* (email) {
      const { subject } = yield* findUser(email)
      return yield* recorded("admin users delete", (context) =>
        Effect.map(removal.remove(context, subject), () => [undefined, { kind: "user", id: subject }] as const)
      )
    }),
    setPassword: Effect.fn("AccountCommands.setPassword")(function* ({ email, password }) {
      const { subject } = yield* findUser(email)
      const hash = yield* passwords.hash(password)
      return yield* recorded("admin reset-password", (context) =>
        Effect.map(users.setPassword(context, subject, hash), () => [undefined, { kind: "user", id: subject }] as const)
      )
    })
  })
})
