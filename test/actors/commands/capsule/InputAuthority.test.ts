import { afterAll, describe, expect } from "bun:test"
import { Effect, type Schema } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, freshKey, install, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

type Values = Readonly<Record<string, Schema.Json>>

const label = { ja: "入力", en: "Input" }
const files = {
  "main.tf": `
    variable "title" { type = string }
    variable "capsule" { type = string }
    variable "size" {
      type    = number
      default = 1
    }
    variable "unmentioned" {
      type    = string
      default = "own"
    }
    variable "needed" { type = string }
    variable "key" {
      type      = string
      sensitive = true
    }
    resource "terraform_data" "a" {
      input = "\${var.title} \${var.capsule} \${var.size} \${var.unmentioned} \${var.needed}"
    }
    output "a" { value = terraform_data.a.output }`,
  ".well-known/svc.json": JSON.stringify({
    apiVersion: "svc.com/v2.4",
    kind: "Repository",
    install: {
      modules: {
        ".": {
          inputs: [
            { name: "title", source: { kind: "user" }, label },
            { name: "capsule", source: { kind: "capsule_name" }, label },
            { name: "size", source: { kind: "module_default" }, label },
            { name: "key", source: { kind: "user" }, label, secret: true }
          ]
        }
      }
    }
  })
}
const given: Values = { title: "one", needed: "must", key: "input-authority-key-30" }

/** Inputs that every endpoint rejects, with the explanation that the error gives. */
const others = [
  ["capsule", "mine", "the service fills this input itself"],
  ["size", 2, "the manifest does not offer this input"],
  ["unmentioned", "mine", "the manifest does not offer this input"],
  ["no_such", "mine", "the module declares no such input"]
] as const

/**
 * A change after the install cannot set inputs that the manifest does not declare. An install can set undeclared inputs if
 * the module requires them.
 */
const undeclared = "the manifest of this commit does not declare this input; commit a manifest that declares it"
const laterRefusals = others.map(
  ([name, value, words]) => [name, value, name === "unmentioned" ? undeclared : words] as const
)

const guardOf = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { installConfigReAdoption } = yield* (yield* Capsules).read(capsuleId)
  return { authorityGuard: installConfigReAdoption.authorityGuard }
})

describe.skipIf(Bun.which("terraform") === null)("Input authority", () => {
  tests.live(
    "a change accepts only user inputs from the manifest, and an install also accepts required inputs that are not in the manifest",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        for (const [index, [name, value, words]] of others.entries()) {
          const refused = yield* install(`inputs-${index}`, files, { variables: { ...given, [name]: value } })
          expect(refused.phase).toBe("failed")
          expect(refused.diagnostics[0]?.message).toStartWith(`variables.${name}: ${words}`)
        }

        const { capsule } = yield* active("inputs", files, { variables: given })
        const configure = Effect.fnUntraced(function* (set: Values, remove: ReadonlyArray<string> = []) {
          // The complete request body from the specification, without new Interfaces.
          const request = {
            variablePatch: { set, remove },
            interfaceBlueprints: [],
            expected: yield* guardOf(capsule.id)
          }
          return yield* capsuleCommands.ConfigurationPlan(capsule.id, { context, request, idempotency: freshKey() })
        })
        for (const [name, value, words] of [...laterRefusals, ["needed", "other", undeclared] as const]) {
          expect((yield* Effect.flip(configure({ [name]: value }))).message).toStartWith(
            `variablePatch.set.${name}: ${words}`
          )
        }
        expect((yield* Effect.flip(configure({}, ["needed"]))).message).toStartWith(
          `variablePatch.remove[0]: ${undeclared}`
        )
        const changed = yield* configure({ title: "other" })
        expect((yield* applied(yield* settled(changed.value.planRunId))).status).toBe("succeeded")
        expect((yield* capsules.outputs(capsule.id))[0]?.value).toBe("other inputs 1 own must")

        const { installConfigId } = yield* capsules.read(capsule.id)
        const { sourceSnapshotId } = yield* capsules.installConfig(workspaceId, installConfigId)
        if (sourceSnapshotId === undefined) return yield* Effect.die("no snapshot")
        const reAdopt = Effect.fnUntraced(function* (reviewedUserVariables: Values) {
          const request = {
            baseInstallConfigId: installConfigId,
            sourceSnapshotId,
            reason: "reviewed",
            reviewedUserVariables,
            expected: yield* guardOf(capsule.id)
          }
          return yield* capsuleCommands.ReAdopt(capsule.id, { context, request, idempotency: freshKey() })
        })
        const complete = { title: "two" }
        for (const [name, value, words] of [...laterRefusals, ["needed", "again", undeclared] as const]) {
          expect((yield* Effect.flip(reAdopt({ ...complete, [name]: value }))).message).toStartWith(
            `reviewedUserVariables.${name}: ${words}`
          )
        }
        const secret = yield* Effect.flip(reAdopt({ ...complete, key: "input-authority-key-31" }))
        expect(secret.message).toBe("reviewedUserVariables.key: secret inputs are not reviewed here.")
        expect((yield* Effect.flip(reAdopt({}))).message).toContain("required inputs are missing: title")
        const adopted = yield* reAdopt(complete)
        const shown = yield* capsules.installConfig(workspaceId, adopted.value.targetInstallConfigId)
        expect(shown.variables.filter(({ set }) => set).map(({ name }) => name)).toEqual(["key", "needed", "title"])
        expect(Object.fromEntries(shown.variables.map(({ name, origin }) => [name, origin]))).toEqual({
          capsule: "capsule_name",
          key: "user",
          needed: "user",
          size: "module_default",
          title: "user",
          unmentioned: "module_default"
        })
        const { value: again } = yield* capsuleCommands.Plan(capsule.id, { context })
        expect((yield* applied(yield* settled(again.id))).status).toBe("succeeded")
        expect((yield* capsules.outputs(capsule.id))[0]?.value).toBe("two inputs 1 own must")
      }),
    120_000
  )
})
