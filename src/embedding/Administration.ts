import { Context, Effect, Layer, type Option, Redacted } from "effect"
import { AccessTokens } from "../../actors/access/account/AccessTokens.ts"
import { SetupLinks } from "../../actors/access/account/SetupLinks.ts"
import { type User, Users } from "../../actors/access/account/Users.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { Workspaces } from "../../actors/ledger/workspace/Workspaces.ts"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import type { Workspace } from "../../schema/records/Workspace.ts"
import { HttpSettings } from "../http-kit/HttpSettings.ts"
import { placeOf } from "./Place.ts"

export interface NewAccount {
  readonly email: string
  readonly displayName?: string
  /** If true, makes the account an operator of the installation. This grants no access to any Workspace. */
  readonly isOperator?: boolean
}

/** An account, and the Workspace that is created for every person. */
export interface Account {
  readonly user: User
  readonly workspace: Workspace
}

/** A token for a program outside this process. */
export interface NewToken {
  readonly name: string
  /** Defaults to `read` and `write`. */
  readonly scopes?: ReadonlyArray<string>
  readonly workspaceId?: string
  /** ISO 8601. Defaults to 90 days from now; the maximum is 366 days. */
  readonly expiresAt?: string
}

export interface AdministrationShape {
  /**
   * Creates an account without a password or passkey. The host acts on its behalf, or gives the person a setup link. Like an
   * operator, the host vouches for the address.
   */
  readonly createAccount: (account: NewAccount) => Effect.Effect<Account, ApiError>
  readonly findAccount: (email: string) => Effect.Effect<Option.Option<User>>
  readonly accounts: Effect.Effect<ReadonlyArray<User>>
  /** Disables the account everywhere at once, including its sessions, its tokens, and programs that act on its behalf. */
  readonly disableAccount: (subject: string) => Effect.Effect<void, ApiError>
  readonly enableAccount: (subject: string) => Effect.Effect<void, ApiError>
  readonly createToken: (subject: string, token: NewToken) => Effect.Effect<Redacted.Redacted, ApiError>
  /** Creates a link through which the person chooses a password or passkey. */
  readonly setupLink: (subject: string) => Effect.Effect<Redacted.Redacted, ApiError>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const workspaces = yield* Workspaces
  const tokens = yield* AccessTokens
  const links = yield* SetupLinks
  const { baseUrl } = yield* HttpSettings

  const personalWorkspace = Effect.fnUntraced(function* (subject: string) {
    yield* workspaces.ensurePersonal(serviceContext, subject)
    const [workspace] = (yield* workspaces.list(subject, { limit: 1 })).workspaces
    return workspace ?? (yield* Effect.die(new Error(`${subject} has no Workspace.`)))
  })

  return Administration.of({
    createAccount: Effect.fn("Administration.createAccount")(function* ({ displayName, email, isOperator = false }) {
      const user = yield* users.create(serviceContext, {
        email,
        emailProof: "operator",
        displayName,
        isOperator
      })
      return { user, workspace: yield* personalWorkspace(user.subject) }
    }),
    findAccount: users.findByEmail,
    accounts: users.list,
    disableAccount: (subject) => users.setStatus(serviceContext, subject, "disabled"),
    enableAccount: (subject) => users.setStatus(serviceContext, subject, "active"),
    createToken: Effect.fn("Administration.createToken")(function* (subject, { scopes = ["read", "write"], ...token }) {
      const { workspaceId } = yield* placeOf(token)
      return (yield* tokens.create(serviceContext, subject, { ...token, scopes, workspaceId })).secret
    }),
    setupLink: (subject) =>
      Effect.map(links.issueReset(subject), ({ secret }) => Redacted.make(`${baseUrl}/setup#${Redacted.value(secret)}`))
  })
})

/**
 * The functions of `svc admin` for accounts and their sign-in methods, for the host. The audit history records them as actions of
 * svc itself; the host decides who may request them.
 */
export class Administration extends Context.Service<Administration, AdministrationShape>()(
  "svc/src/embedding/Administration"
) {
  static readonly layer = Layer.effect(Administration, make)
}
