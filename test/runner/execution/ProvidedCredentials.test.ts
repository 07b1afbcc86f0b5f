import { describe, expect, test } from "bun:test"
import { Effect, Redacted, Result } from "effect"
import { deliverCredentials } from "../../../runner/execution/CredentialDelivery.ts"
import { ProvidedCredentials } from "../../../runner/execution/ProvidedCredentials.ts"
import type { ProviderCredentials } from "../../../runner/execution/RunJob.ts"
import { it } from "../../support/Effect.ts"
import { recorder } from "./support/RunnerHarness.ts"
import { credentials, note, notesOf, onStage, ownerOf, required, tokenA } from "./support/ProviderStage.ts"
import { TestRunner } from "./support/TestRunner.ts"

const place = { insideRoot: "/capsule", credentialFolder: "settings/credentials", moduleFolder: "source" }
const secret = (value: string) => Redacted.make(value)

const tuple = (more: Partial<ProviderCredentials>): ProviderCredentials => ({
  provider: "acme/demo",
  moduleLocalName: "demo",
  connection: "a",
  values: {},
  files: [],
  config: {},
  argumentNames: {},
  ...more
})

const own = (more: Partial<ProviderCredentials> = {}) =>
  tuple({ provided: "cloud", values: { DEMO_TOKEN: secret("own-canary") }, ...more })

const problem = (tuples: ReadonlyArray<ProviderCredentials>) =>
  Result.match(deliverCredentials(tuples, place), { onFailure: (reason) => reason, onSuccess: () => undefined })

describe("credentials that a place of execution has of its own", () => {
  test.each<[string, ReadonlyArray<ProviderCredentials>]>([
    [
      "another Connection of the provider",
      [own(), tuple({ alias: "b", connection: "b", values: { X_Y: secret("x1") } })]
    ],
    ["another pool's set of the provider", [own(), own({ alias: "b", connection: "b", provided: "other" })]],
    [
      "another provider that reads the same variable",
      [own(), tuple({ provider: "acme/other", connection: "b", values: { DEMO_TOKEN: secret("another") } })]
    ]
  ])("are never made provider arguments: %s", (_, tuples) => {
    expect(problem(tuples)).toContain("A plan file holds arguments")
    expect(problem(tuples)).not.toContain("own-canary")
  })

  test("are no inputs of the module, which a plan file holds as well", () => {
    expect(problem([own({ values: { TF_VAR_token: secret("own-canary") } })])).toContain("is an input of the module")
    expect(problem([own()])).toBeUndefined()
    expect(problem([own(), own({ alias: "b" })])).toBeUndefined()
  })

  it.live("go to the provider, are hidden, and are not among the secrets that a plan brings back", () =>
    onStage(({ job, notesDir }) =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const seen = recorder()
        const given = credentials(notesDir)
        const first = job(
          { "main.tf": `${required}${note("a")}` },
          { credentials: [{ ...given, values: {}, provided: "cloud", config: { echo_token: true } }] }
        )
        const plan = yield* runner.plan(first, seen.sink).pipe(
          Effect.provideService(ProvidedCredentials, {
            described: Effect.succeed(["cloud"]),
            names: Effect.succeed(["cloud"]),
            read: () => Effect.succeed({ values: given.values, files: [] })
          })
        )
        expect(plan.envNames).toEqual(["DEMO_DIR", "DEMO_TOKEN"])
        expect(plan.secrets.credentials).toEqual([])
        expect(`${seen.everything()}${JSON.stringify(plan)}`).toContain("[redacted env.DEMO_TOKEN]")
        expect(`${seen.everything()}${JSON.stringify(plan)}`).not.toContain(tokenA)
        expect(Buffer.from(Redacted.value(plan.planFile)).includes(tokenA)).toBe(false)
        // A place that has none refuses the job before anything is started.
        expect(yield* Effect.flip(runner.plan(first, recorder().sink))).toMatchObject({
          reason: "prepare_failed",
          message: expect.stringContaining("the control plane does not have them")
        })
        expect(notesOf(notesDir).map(({ owner }) => owner)).not.toContain(ownerOf(tokenA))
      })
    )
  )
})
