import { Layer, References } from "effect"
import { unlimitedAttempts } from "../../../support/Attempts.ts"
import { authenticatorLayer } from "../../../../src/accounts/AuthenticatorLayer.ts"
import { tokenHandlers } from "../../../../src/http/handlers/TokenHandlers.ts"
import { apiMiddleware } from "../../../../src/http/ApiRoutes.ts"
import { testAccounts } from "../../../support/Accounts.ts"
import { matrixIssuer, Principals } from "./Principals.ts"
import { fakeInvitations, fakeMembers, fakeTeamGroups, fakeWorkspaces } from "./RemainingGroups.ts"
import { applicationWith } from "./TestApplication.ts"

/** `instead` replaces individual fakes. */
export const matrixApplicationWith = <A, E, R>(instead: Layer.Layer<A, E, R>) =>
  applicationWith(
    Layer.mergeAll(authenticatorLayer, unlimitedAttempts, instead),
    Layer.mergeAll(
      fakeWorkspaces,
      fakeMembers,
      fakeInvitations,
      fakeTeamGroups,
      tokenHandlers.pipe(Layer.provide(apiMiddleware))
    )
  ).pipe(
    Layer.provideMerge(Principals.layer),
    Layer.provideMerge(matrixIssuer),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None")),
    Layer.provideMerge(testAccounts)
  )

/** The routes over real accounts, tokens and issuer, with every kind of caller. All other services are fake. */
export const matrixApplication = matrixApplicationWith(Layer.empty)
