import { ConfirmationsApi } from "../../../../src/accounts/declarations/ConfirmationsApi.ts"
import { SignedOutPagesApi } from "../../../../src/accounts/declarations/SignedOutPagesApi.ts"
import { InvitedSignUpApi } from "../../../../src/accounts/declarations/InvitedSignUpApi.ts"
import { PasskeysApi } from "../../../../src/accounts/declarations/PasskeysApi.ts"
import { ProfileApi } from "../../../../src/accounts/declarations/ProfileApi.ts"
import { SecondFactorApi } from "../../../../src/accounts/declarations/SecondFactorApi.ts"
import { SignInApi } from "../../../../src/accounts/declarations/SignInApi.ts"
import { UpstreamApi, UpstreamPagesApi } from "../../../../src/accounts/declarations/UpstreamApi.ts"

const groups = [
  SignInApi,
  ConfirmationsApi,
  SecondFactorApi,
  ProfileApi,
  SignedOutPagesApi,
  InvitedSignUpApi,
  PasskeysApi,
  UpstreamPagesApi,
  UpstreamApi
]

/** Every route for signing in and for the account, as method and path. */
export const accountRoutes: ReadonlyArray<readonly [method: string, path: string]> = groups.flatMap(({ endpoints }) =>
  Object.values(endpoints).map(({ method, path }) => [method, path] as const)
)
