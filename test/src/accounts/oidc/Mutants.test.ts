import { afterAll, describe, expect } from "bun:test"
import { Effect, Exit, Layer, Logger } from "effect"
import { testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { basicOpModules, stricterModules } from "./support/BasicOp.ts"
import { capsuleClientRuleModules } from "./support/CapsuleClientRules.ts"
import { claimRuleModules } from "./support/ClaimRules.ts"
import { decisionMutants } from "./support/DecisionMutants.ts"
import { endpointMutants } from "./support/EndpointMutants.ts"
import { clientDocument, defaultIssuer, issuerSettings, mounted } from "./support/IssuerFixture.ts"
import { interfaceRuleModules } from "./support/InterfaceRules.ts"
import { loadIssuer } from "./support/MutantIssuer.ts"
import { pageRuleModules } from "./support/PageRules.ts"
import { leavingModules, rpLogoutModules } from "./support/RpLogout.ts"
import { testTime } from "./support/TestTime.ts"
import { tokenRuleModules } from "./support/TokenRules.ts"
import { workspaceRuleModules } from "./support/WorkspaceRules.ts"

// All mutants share one database and one set of signing keys.
const tests = suite(
  issuerSettings(defaultIssuer, clientDocument()).pipe(
    Layer.provideMerge(testAccounts),
    Layer.provideMerge(testTime),
    Layer.provideMerge(Logger.layer([]))
  )
)
afterAll(tests.dispose)

const mutants = [...decisionMutants, ...endpointMutants]

const modules = new Map(
  [
    basicOpModules,
    claimRuleModules,
    stricterModules,
    rpLogoutModules,
    leavingModules,
    tokenRuleModules,
    workspaceRuleModules,
    capsuleClientRuleModules,
    interfaceRuleModules,
    pageRuleModules
  ]
    .flat()
    .map(({ check, name }) => [name, check])
)

/** Runs a check against a copy of the issuer and returns the outcome. */
const outcome = Effect.fnUntraced(function* (
  { oidcRoutes, oidcServices }: Effect.Success<ReturnType<typeof loadIssuer>>,
  name: string
) {
  const check = modules.get(name) ?? Effect.die(new Error(`There is no check "${name}"`))
  const faulty = mounted(defaultIssuer, oidcRoutes).pipe(Layer.provideMerge(oidcServices))
  // Builds the issuer before the check, so that a copy that fails to start does not count as a detected fault.
  const context = yield* Layer.build(faulty)
  return yield* Effect.exit(Effect.provideContext(check, context))
}, Effect.scoped)

describe("Issuer mutants", () => {
  for (const mutant of mutants) {
    tests.live(`${mutant.name}: ${mutant.noticedBy}`, () =>
      Effect.gen(function* () {
        const exit = yield* outcome(yield* loadIssuer(mutant.file, mutant), mutant.noticedBy)
        expect(Exit.isFailure(exit)).toBe(true)
      })
    )
  }

  // Control: an unmodified copy passes every check, so a failure is caused by the fault, not by the copy.
  tests.live("a copy of the issuer without a fault passes every check", () =>
    Effect.gen(function* () {
      for (const file of new Set(mutants.map((mutant) => mutant.file))) {
        const copy = yield* loadIssuer(file, undefined)
        const names = mutants.filter((mutant) => mutant.file === file).map(({ noticedBy }) => noticedBy)
        for (const name of new Set(names)) {
          expect([file, name, (yield* outcome(copy, name))._tag]).toEqual([file, name, "Success"])
        }
      }
    })
  )
})
