import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { Capsule } from "../../../../schema/records/Capsule.ts"
import type { Run } from "../../../../schema/records/Run.ts"
import { suite } from "../../../support/Effect.ts"
import {
  active,
  applied,
  bound,
  demoConnection,
  demoModule,
  freshKey,
  replanned,
  settled
} from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(120_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

const noteWith = (content: string) => `
  variable "content" { default = "none" }
  variable "unused" { default = "none" }
  resource "demo_note" "own" {
    name    = "own"
    content = ${content}
  }`

/** Plans the Capsule with other input values. */
const reconfigured = Effect.fnUntraced(function* (capsule: Capsule, variables: Readonly<Record<string, string>>) {
  const { context } = yield* TestPlane
  const capsules = yield* Capsules
  const capsuleCommands = yield* CapsuleCommands
  const { installConfigReAdoption } = yield* capsules.read(capsule.id)
  const request = {
    variablePatch: { set: variables },
    expected: { authorityGuard: installConfigReAdoption.authorityGuard }
  }
  const asked = yield* capsuleCommands.ConfigurationPlan(capsule.id, { context, request, idempotency: freshKey() })
  return yield* settled(asked.value.planRunId)
})

const committed = Effect.fnUntraced(function* (
  capsule: Capsule,
  branch: string,
  files: Readonly<Record<string, string>>
) {
  const { commit, context } = yield* TestPlane
  yield* commit(branch, files)
  yield* settled((yield* (yield* Sources).sync(context, capsule.sourceId, {})).id)
})

const causesOf = Effect.fnUntraced(function* (run: Run) {
  const { causes, resources, status, unknown } = yield* (yield* Runs).changeCauses(run.id)
  const [resource] = resources
  return {
    status,
    unknown,
    kinds: causes.map(({ kind }) => kind),
    certain: resource?.certain,
    resource: resource?.causes
  }
})

/** Edits the only note in the demo provider's cloud, outside svc. */
const editNote = (folder: string, content: string) => {
  const [name = ""] = readdirSync(folder).filter((entry) => entry.endsWith(".json"))
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), content }))
}

describe.skipIf(Bun.which("terraform") === null)("Change causes", () => {
  tests.live("a planned change shows its input, commit or drift as the cause, without any value", () =>
    Effect.gen(function* () {
      const { notesDir } = yield* TestPlane
      const connection = yield* demoConnection("causes-token-5d1c")
      const options = { options: { providerBindings: [bound(connection.id)] }, variables: { content: "secret one" } }
      const { capsule, plan } = yield* active("causes", { "main.tf": demoModule(noteWith("var.content")) }, options)
      expect(yield* causesOf(plan)).toMatchObject({ status: "first", kinds: [] })

      const byInput = yield* reconfigured(capsule, { content: "secret two", unused: "x" })
      const input = { kind: "input", input: "content", change: "changed" }
      expect(yield* causesOf(byInput)).toMatchObject({ kinds: ["input", "input"], certain: true, resource: [input] })
      expect(JSON.stringify(yield* (yield* Runs).changeCauses(byInput.id))).not.toContain("secret")
      expect(byInput.changedInputs).toEqual([
        { input: "content", change: "changed" },
        { input: "unused", change: "added" }
      ])
      yield* applied(byInput)

      editNote(notesDir, "edited by hand")
      const byDrift = yield* replanned(capsule.id)
      expect(yield* causesOf(byDrift)).toMatchObject({
        kinds: ["drift"],
        certain: true,
        resource: [{ kind: "drift", addresses: ["demo_note.own"], count: 1 }]
      })
      yield* applied(byDrift)

      yield* committed(capsule, "causes", { "main.tf": demoModule(noteWith(`"\${var.content}!"`)) })
      const byCommit = yield* replanned(capsule.id)
      const commit = { kind: "commit", from: byDrift.resolvedCommit, to: byCommit.resolvedCommit, fileCount: 1 }
      expect<unknown>(yield* causesOf(byCommit)).toEqual({
        status: "compared",
        unknown: [],
        kinds: ["commit"],
        certain: true,
        resource: [commit]
      })

      // Plans the commit that is already deployed, with different inputs.
      const again = yield* reconfigured(capsule, { content: "secret three" })
      expect(yield* causesOf(again)).toMatchObject({ kinds: ["input"], certain: true, resource: [input] })
    })
  )

  tests.live("a planned change shows another Capsule's Output as its cause", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const { capsule: producer } = yield* active("causes-gives", greeting("one"))
      const takes = { "main.tf": `variable "a" { default = "none" }\nresource "terraform_data" "it" { input = var.a }` }
      const { capsule: consumer } = yield* active("causes-takes", takes)
      yield* (yield* Dependencies).create(context, consumer.id, {
        producerCapsuleId: producer.id,
        mode: "variable_injection",
        outputs: [{ from: "a", to: "a", required: true }]
      })
      yield* applied(yield* replanned(consumer.id))
      yield* committed(producer, "causes-gives", greeting("two"))
      yield* applied(yield* replanned(producer.id))
      expect(yield* causesOf(yield* replanned(consumer.id))).toMatchObject({
        kinds: ["dependency"],
        certain: true,
        resource: [{ kind: "dependency", input: "a", change: "changed", producerCapsuleId: producer.id }]
      })
    })
  )

  tests.live("a destroy plan and a Run without a plan show no causes", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const capsules = yield* CapsuleCommands
      const { apply, capsule } = yield* active("causes-ends", greeting("one"))
      expect(yield* causesOf(apply)).toMatchObject({ status: "not_recorded", resource: undefined })
      const destroy = yield* settled((yield* capsules.DestroyPlan(capsule.id, { context })).value.id)
      expect(yield* causesOf(destroy)).toMatchObject({ status: "destroy", kinds: [] })
    })
  )
})
