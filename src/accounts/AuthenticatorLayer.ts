import { Effect, Layer } from "effect"
import { Accounts } from "../../actors/account/Accounts.ts"
import { Authenticator } from "../http/authorization/Authenticator.ts"

/** The authenticator of the HTTP face over the accounts of this installation. */
export const authenticatorLayer = Layer.effect(
  Authenticator,
  Effect.map(Accounts, (accounts) =>
    Authenticator.of({ bearer: accounts.authenticateBearer, session: accounts.authenticateSession })
  )
)
