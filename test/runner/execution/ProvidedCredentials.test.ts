import { describe, expect, test } from "bun:test"
import { Effect, Redacted, Result } from "effect"
import { deliverCredentials } from "../../../runner/execution/CredentialDelivery.ts"
import { ProvidedCredentials, type ProvidedSet } from "../../../runner/execution/ProvidedCredentials.ts"
import type { ProviderCredentials } from "../../../runner/execution/RunJob.ts"
import { it } from "../../support/Effect.ts"
import { archivedParts } from "../../support/ArchivedParts.ts"
import { applyJob, recorder } from "./support/RunnerHarness.ts"
import { credentials, note, notesOf, onStage, ownerOf, required, tokenA, tokenB } from "./support/ProviderStage.ts"
import { TestRunner } from "./support/TestRunner.ts"

const place = { insideRoot: "/capsule", credentialFolder: "settings/credentials", moduleFolder: "source" }
const secret = (value: string) => Redacted.make(value)

const oneNote = { "main.tf": `${required}${note("a")}` }
/** Uses the agent's credentials named `cloud`. */
const leftToCloud = (given: ReturnType<typeof credentials>) => ({
  credentials: [{ ...given, values: {}, provided: "cloud" }]
})

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

/** Creates a runner that provides these credentials as `cloud`. */
const providing = (values: ProviderCredentials["values"], more: Partial<ProvidedSet> = {}) =>
  Effect.provideService(ProvidedCredentials, {
    described: Effect.succeed(["cloud"]),
    names: Effect.succeed(["cloud"]),
    marks: Effect.succeed([]),
    read: () => Effect.succeed({ values, files: [], ...more })
  })

const problem = (tuples: ReadonlyArray<ProviderCredentials>) =>
  Result.match(deliverCredentials(tuples, place), { onFailure: (reason) => reason, onSuccess: () => undefined })

describe("Runner credentials", () => {
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
  ])("a runner's own credentials are never passed as provider arguments: %s", (_, tuples) => {
    expect(problem(tuples)).toContain("A plan file holds arguments")
    expect(problem(tuples)).not.toContain("own-canary")
  })

  test("a runner's own credentials cannot be module inputs, because a plan file would contain them", () => {
    expect(problem([own({ values: { TF_VAR_token: secret("own-canary") } })])).toContain("is an input of the module")
    expect(problem([own()])).toBeUndefined()
    expect(problem([own(), own({ alias: "b" })])).toBeUndefined()
  })

  it.live(
    "a runner's own credentials reach the provider and are redacted, but do not leave the runner with the plan",
    () =>
      onStage(({ job, notesDir }) =>
        Effect.gen(function* () {
          const runner = yield* TestRunner
          const seen = recorder()
          const given = credentials(notesDir)
          const first = job(
            { "main.tf": `${required}${note("a")}` },
            { credentials: [{ ...given, values: {}, provided: "cloud", config: { echo_token: true } }] }
          )
          const plan = yield* runner.plan(first, seen.sink).pipe(providing(given.values))
          expect(plan.envNames).toEqual(["DEMO_DIR", "DEMO_TOKEN"])
          expect(plan.secrets.credentials).toEqual([])
          expect(`${seen.everything()}${JSON.stringify(plan)}`).toContain("[redacted env.DEMO_TOKEN]")
          expect(`${seen.everything()}${JSON.stringify(plan)}`).not.toContain(tokenA)
          const unpacked = Buffer.concat(archivedParts(Buffer.from(Redacted.value(plan.planFile))))
          expect(unpacked.includes("content of a")).toBe(true)
          expect(unpacked.includes(tokenA)).toBe(false)
          // A runner without credentials of that name rejects the job before it starts anything.
          expect(yield* Effect.flip(runner.plan(first, recorder().sink))).toMatchObject({
            reason: "prepare_failed",
            message: expect.stringContaining("the control plane does not have them")
          })
          expect(notesOf(notesDir).map(({ owner }) => owner)).not.toContain(ownerOf(tokenA))
        })
      )
  )

  it.live("an apply must use the same runner credentials as the reviewed plan", () =>
    onStage(({ folder, job, notesDir }) =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const given = credentials(notesDir)
        const first = job(oneNote, leftToCloud(given))
        const plan = yield* runner.plan(first, recorder().sink).pipe(providing(given.values))
        const bound = JSON.stringify(plan.secrets.provided)
        expect(plan.secrets.provided).toMatchObject([{ name: "cloud" }])
        const others = { ...given.values, DEMO_TOKEN: secret(tokenB) }
        const more = { ...given.values, DEMO_MORE: secret("one-more") }
        for (const [values, outcome] of [
          [others, plan],
          [more, plan],
          // A plan from an earlier release does not record its credentials.
          [given.values, { ...plan, secrets: { ...plan.secrets, provided: undefined } }],
          [given.values, { ...plan, secrets: { ...plan.secrets, provided: [{ name: "cloud", digest: "another" }] } }]
        ] as const) {
          const seen = recorder()
          const refused = yield* Effect.flip(
            runner.apply(applyJob(folder, first, outcome), seen.sink).pipe(providing(values))
          )
          expect(refused.reason).toBe("job_invalid")
          expect(refused.message).toContain("not made with the credentials cloud")
          expect(refused.message).toContain("Plan again")
          expect(`${seen.everything()}${refused.message}${bound}`).not.toContain(tokenA)
          expect(`${seen.everything()}${refused.message}`).not.toContain(tokenB)
        }
        expect(notesOf(notesDir)).toEqual([])
        const reordered = Object.fromEntries(Object.entries(given.values).toReversed())
        const applied = yield* runner.apply(applyJob(folder, first, plan), recorder().sink).pipe(providing(reordered))
        expect(applied.exit).toBe("succeeded")
        expect(notesOf(notesDir).map(({ owner }) => owner)).toEqual([ownerOf(tokenA)])
      })
    )
  )

  it.live("a runner's labelled credentials may have different values at apply time, but not different names", () =>
    onStage(({ folder, job, notesDir }) =>
      Effect.gen(function* () {
        const runner = yield* TestRunner
        const given = credentials(notesDir)
        const first = job(oneNote, leftToCloud(given))
        const label = "blue"
        const plan = yield* runner
          .plan(first, recorder().sink)
          .pipe(providing(given.values, { label, mark: "a".repeat(43) }))
        expect(plan.secrets.provided).toMatchObject([{ name: "cloud", mark: "a".repeat(43) }])
        const others = { ...given.values, DEMO_TOKEN: secret(tokenB) }
        for (const refused of [
          providing(given.values),
          providing(given.values, { label: "green" }),
          providing({ ...others, DEMO_MORE: secret("one-more") }, { label }),
          providing(others, { label, files: [{ name: "key", content: Redacted.make(new Uint8Array([1])) }] })
        ]) {
          const { message } = yield* Effect.flip(
            runner.apply(applyJob(folder, first, plan), recorder().sink).pipe(refused)
          )
          expect(message).toContain("not made with the credentials cloud")
        }
        const applied = yield* runner
          .apply(applyJob(folder, first, plan), recorder().sink)
          .pipe(providing(others, { label }))
        expect(applied.exit).toBe("succeeded")
        expect(notesOf(notesDir).map(({ owner }) => owner)).toEqual([ownerOf(tokenB)])
      })
    )
  )
})
