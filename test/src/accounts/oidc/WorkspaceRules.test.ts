import { afterAll, describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { InstallPolicy } from "../../../../actors/ledger/configuration/InstallConfigCompilation.ts"
import { oidcRoutes } from "../../../../src/accounts/oidc/OidcRoutes.ts"
import { oidcServices } from "../../../../src/accounts/oidc/OidcServices.ts"
import { suite } from "../../../support/Effect.ts"
import { defaultIssuer, issuerLayer, mounted, testPolicy } from "./support/IssuerFixture.ts"
import { reach, served, staleReach, workspaceRuleModules } from "./support/WorkspaceRules.ts"

const tests = suite(issuerLayer())
afterAll(tests.dispose)

describe("Workspaces and Capsules", () => {
  for (const { check, name } of workspaceRuleModules) tests.live(name, () => check)

  tests.live(
    "after the operator revokes a permission of Capsules, a Capsule client is refused at its next request",
    () =>
      Effect.gen(function* () {
        const capsule = yield* served
        const before = yield* capsule.signIn
        const stricter = Layer.succeed(InstallPolicy, {
          policy: { ...testPolicy.policy, allowedOidcScopes: ["profile"] }
        })
        const restarted = mounted(defaultIssuer, oidcRoutes).pipe(
          Layer.provideMerge(Layer.fresh(oidcServices)),
          Layer.provideMerge(stricter)
        )
        expect(yield* Effect.provide(reach(capsule, before), restarted)).toEqual(staleReach)
      })
  )
})
