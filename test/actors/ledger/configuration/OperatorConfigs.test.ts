import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { OperatorSuccession } from "../../../../actors/ledger/configuration/OperatorSuccession.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, freshKey, install, replanned, requestOf, settled, stepped } from "../../../support/Journey.ts"
import { newMember, TestPlane } from "../../../support/TestPlane.ts"
import { speculated } from "../../support/ChangeSteps.ts"
import { Operator, operatorPlane } from "../../support/OperatorPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { InstallPlanCommands } from "../../../../schema/commands/InstallPlanCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

setDefaultTimeout(60_000)

const tests = suite(operatorPlane)
afterAll(tests.dispose)

const main = {
  "main.tf": `
    variable "region" {
      type = string
    }
    variable "name" {
      type    = string
      default = "plain"
    }
    resource "terraform_data" "a" { input = "\${var.region} \${var.name}" }
    output "a" { value = terraform_data.a.output }`
}

const outputOf = Effect.fnUntraced(function* (capsuleId: Parameters<Capsules["Service"]["outputs"]>[0]) {
  return (yield* (yield* Capsules).outputs(capsuleId)).map(({ value }) => value)
})

describe.skipIf(Bun.which("terraform") === null)("Base configurations", () => {
  tests.live(
    "the operator's base configuration sets reserved inputs, chooses the profile, and is recorded on every Run",
    () =>
      Effect.gen(function* () {
        const operator = yield* Operator
        const { context, workspaceId } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        yield* operator.set({
          profiles: { small: { limits: { memory: "1GiB", processes: 2000 } } },
          baseConfigs: [
            { name: "EU", origin: operator.gitOrigin, module: ".", profile: "small", variables: { region: "eu-1" } }
          ]
        })
        const refused = yield* install("taken", main, { variables: { region: "us-1" } })
        expect(refused.diagnostics[0]?.message).toContain("the operator sets this input")

        const { apply, capsule, plan } = yield* active("based", main, { variables: { name: "one" } })
        expect(yield* outputOf(capsule.id)).toEqual(["eu-1 one"])
        expect(plan).toMatchObject({
          profile: "small",
          operatorConfig: { name: "EU", variables: ["region"], postApply: [] }
        })
        expect(apply).toMatchObject({ profile: "small", profileDigest: plan.profileDigest ?? "none" })
        expect(JSON.stringify(plan.operatorConfig)).not.toContain("eu-1")
        const config = yield* capsules.installConfig(workspaceId, capsule.installConfigId)
        expect(config.variables.find(({ name }) => name === "region")).toMatchObject({ origin: "operator", set: true })
        const drift = yield* settled((yield* capsuleCommands.DriftCheck(capsule.id, { context })).id)
        expect(drift).toMatchObject({ status: "succeeded", profile: "small" })
        const guard = { authorityGuard: (yield* capsules.read(capsule.id)).installConfigReAdoption.authorityGuard }
        const change = { variablePatch: { set: { region: "us-1" } }, expected: guard }
        const error = yield* Effect.flip(
          capsuleCommands.ConfigurationPlan(capsule.id, { context, request: change, idempotency: freshKey() })
        )
        expect(error.message).toContain("the operator sets this input")

        // Re-adopting under the same base configuration keeps the operator's values.
        const adopted = yield* capsuleCommands.ReAdopt(capsule.id, {
          context,
          request: {
            baseInstallConfigId: capsule.installConfigId,
            sourceSnapshotId: capsule.adoptedSourceRevision?.sourceSnapshotId ?? (yield* Effect.die("no revision")),
            reason: "reviewed",
            reviewedUserVariables: { name: "two" },
            expected: guard
          },
          idempotency: freshKey()
        })
        const kept = yield* capsules.installConfig(workspaceId, adopted.value.targetInstallConfigId)
        expect(kept.variables.find(({ name }) => name === "region")).toMatchObject({ origin: "operator", set: true })
        expect((yield* applied(yield* replanned(capsule.id))).status).toBe("succeeded")
        expect(yield* outputOf(capsule.id)).toEqual(["eu-1 two"])
      })
  )

  tests.live("only the person who installs an unreviewed ref can see its inputs", () =>
    Effect.gen(function* () {
      const operator = yield* Operator
      const { commit, context, workspaceId } = yield* TestPlane
      yield* operator.set({ baseConfigs: [{ origin: operator.gitOrigin, variables: { region: "eu-secret" } }] })
      yield* commit("unreviewed", main)
      const installs = yield* InstallPlans
      const installPlanCommands = yield* InstallPlanCommands
      const member = yield* newMember(workspaceId, context, "member")
      const request = yield* requestOf("unreviewed", { variables: { name: "mine" } })
      const error = yield* Effect.flip(installs.create(member, workspaceId, request, freshKey()))
      expect([error.code, error.message]).toEqual([
        "permission_denied",
        expect.stringContaining("The code of unreviewed would receive private inputs")
      ])
      // Before the fetch, svc cannot determine the module that the plan installs.
      const { modulePath: _, ...options } = request.options
      const later = yield* installs.create(member, workspaceId, { ...request, options }, freshKey())
      const failed = yield* stepped(installPlanCommands.Reconcile(later.value.id, { context: member }))
      expect([failed.phase, failed.capsuleId, failed.diagnostics[0]?.code]).toEqual([
        "failed",
        undefined,
        "permission_denied"
      ])
      // An owner's install makes this ref the default of a new Source.
      const { plan } = yield* active("unreviewed", main, { variables: { name: "owners" } })
      expect(plan.openedForRef).toBeUndefined()
      yield* operator.set({})
    })
  )

  tests.live(
    "a speculative plan does not follow a changed base configuration, and asks for an ordinary plan first",
    () =>
      Effect.gen(function* () {
        const operator = yield* Operator
        const capsules = yield* Capsules
        const base = (region: string) => ({ baseConfigs: [{ origin: operator.gitOrigin, variables: { region } }] })
        yield* operator.set(base("eu-1"))
        const { capsule } = yield* active("speculation", main)
        expect((yield* speculated(capsule.id, "speculation")).status).toBe("succeeded")
        yield* operator.set(base("eu-2"))
        const before = yield* capsules.read(capsule.id)
        const { error, status } = yield* speculated(capsule.id, "speculation")
        expect([status, error?.code]).toEqual(["failed", "failed_precondition"])
        expect(error?.message).toContain("Plan the Capsule once, so that it follows the operator.")
        // The failed plan has changed nothing about the Capsule.
        const after = yield* capsules.read(capsule.id)
        expect([after.installConfigId, after.executionAuthorityEpoch, after.status]).toEqual([
          before.installConfigId,
          before.executionAuthorityEpoch,
          before.status
        ])
        yield* applied(yield* replanned(capsule.id))
        expect((yield* speculated(capsule.id, "speculation")).status).toBe("succeeded")
        yield* operator.set({})
      })
  )

  tests.live(
    "a plan made under an earlier base configuration is never applied, and the next plan uses the new base",
    () =>
      Effect.gen(function* () {
        const operator = yield* Operator
        const { context } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const runs = yield* Runs
        const runCommands = yield* RunCommands
        const base = (region: string, profile = "one") => ({
          profiles: { one: { limits: { processes: 3000 } }, two: { limits: { processes: 2500 } } },
          baseConfigs: [{ origin: operator.gitOrigin, profile, variables: { region } }]
        })
        yield* operator.set(base("eu-1"))
        const { capsule } = yield* active("follow", main)
        const waiting = yield* replanned(capsule.id)
        yield* runCommands.Approve(waiting.id, { context })

        // Each of these changes voids the reviewed plan: a changed value, another profile, a redefined profile, and a
        // removed entry.
        const others = [
          base("eu-2"),
          base("eu-1", "two"),
          { ...base("eu-1"), profiles: { one: { limits: { processes: 2999 } } } },
          {}
        ]
        for (const policy of others) {
          yield* operator.set(policy)
          const error = yield* Effect.flip(runs.apply(context, waiting.id, undefined))
          expect([error.code, error.message.includes("The operator has changed")]).toEqual(["guard_conflict", true])
        }
        yield* operator.set(base("eu-1"))
        expect(yield* (yield* OperatorSuccession).supersedeMoved).toBe(0)
        yield* operator.set(base("eu-2"))
        expect(yield* (yield* OperatorSuccession).supersedeMoved).toBe(1)
        expect((yield* runs.read(waiting.id)).status).toBe("superseded")

        const before = yield* capsules.read(capsule.id)
        const next = yield* replanned(capsule.id)
        const after = yield* capsules.read(capsule.id)
        expect(after.installConfigId).not.toBe(before.installConfigId)
        expect(after.executionAuthorityEpoch).toBe(before.executionAuthorityEpoch + 1)
        expect(next).toMatchObject({ installConfigId: after.installConfigId, executionAuthorityEpoch: 2 })
        expect((yield* applied(next)).status).toBe("succeeded")
        expect(yield* outputOf(capsule.id)).toEqual(["eu-2 plain"])

        // Without the operator's value the required input is unset again, and a person must supply it.
        yield* operator.set({})
        const without = yield* replanned(capsule.id)
        expect(without.error).toMatchObject({ code: "missing_input" })
        const free = yield* capsules.read(capsule.id)
        const set = {
          variablePatch: { set: { region: "mine" } },
          expected: { authorityGuard: free.installConfigReAdoption.authorityGuard }
        }
        const configured = yield* capsuleCommands.ConfigurationPlan(capsule.id, {
          context,
          request: set,
          idempotency: freshKey()
        })
        expect((yield* applied(yield* settled(configured.value.planRunId))).status).toBe("succeeded")
        expect(yield* outputOf(capsule.id)).toEqual(["mine plain"])
      })
  )

  tests.live("svc rejects a Run whose profile the machine cannot provide, and reports the profile and the remedy", () =>
    Effect.gen(function* () {
      const operator = yield* Operator
      const use = (profile: Readonly<Record<string, unknown>>) =>
        operator.set({
          profiles: { strict: profile },
          baseConfigs: [{ origin: operator.gitOrigin, profile: "strict", variables: { region: "eu-1" } }]
        })
      // The Runs of this test service share the host's network, so the service cannot provide an isolated network.
      yield* use({ network: "isolated" })
      const network = yield* install("network", main)
      expect(network.diagnostics[0]).toMatchObject({ code: "profile_unavailable" })
      expect(network.diagnostics[0]?.message).toContain("The execution profile strict needs a network of the Run's own")
      yield* use({ tool: { version: "0.0.1" } })
      const tool = yield* install("tool", main)
      expect(tool.diagnostics[0]).toMatchObject({ code: "profile_unavailable" })
      expect(tool.diagnostics[0]?.message).toContain("0.0.1")
      const run = yield* (yield* Runs).read(tool.planRunId ?? (yield* Effect.die("no plan")))
      expect(run).toMatchObject({ status: "failed", profile: "strict" })
      expect(run.isolation).toBeUndefined()
    })
  )

  tests.live("base configurations are listed in pages and without values, even before any Capsule exists", () =>
    Effect.gen(function* () {
      const operator = yield* Operator
      const { context, workspaceId } = yield* TestPlane
      const capsules = yield* Capsules
      const names = ["one", "two", "three"]
      yield* operator.set({
        baseConfigs: names.map((name) => ({
          name,
          origin: operator.gitOrigin,
          path: name,
          variables: { region: `value-${name}` }
        }))
      })
      const subject = context.actor.subject ?? ""
      const listed = Effect.fnUntraced(function* (limit: number) {
        const items = []
        let cursor: string | undefined
        do {
          const page = yield* capsules.installConfigs(workspaceId, {
            limit,
            subject,
            ...(cursor === undefined ? {} : { cursor })
          })
          expect(page.items.length).toBeLessThanOrEqual(limit)
          items.push(...page.items)
          cursor = page.nextCursor
        } while (cursor !== undefined)
        return items
      })
      const all = yield* listed(100)
      expect(all.slice(0, 3).map(({ operator: config }) => config?.name)).toBeArrayOfSize(3)
      expect(new Set(all.slice(0, 3).map(({ operator: config }) => config?.name))).toEqual(new Set(names))
      expect(all[3]?.operator?.place).toBeUndefined()
      for (const limit of [1, 2, 3, 4]) {
        expect((yield* listed(limit)).map(({ id }) => id)).toEqual(all.map(({ id }) => id))
      }
      expect(JSON.stringify(all)).not.toContain("value-")
      expect(all[0]).toMatchObject({ origin: "operator", operator: { variables: ["region"] } })
    })
  )

  tests.live("a base configuration value of the wrong type is reported before any Capsule exists", () =>
    Effect.gen(function* () {
      const operator = yield* Operator
      yield* operator.set({ baseConfigs: [{ origin: operator.gitOrigin, variables: { region: ["eu-1"] } }] })
      const plan = yield* install("typed", main)
      expect(plan.capsuleId).toBeUndefined()
      expect(plan.diagnostics.map(({ code }) => code)).toContain("operator_variable_type")
      expect(JSON.stringify(plan.diagnostics)).not.toContain("eu-1")
      yield* operator.set({})
    })
  )
})
