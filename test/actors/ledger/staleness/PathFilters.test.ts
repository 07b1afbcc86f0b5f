import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { Capsule } from "../../../../schema/records/Capsule.ts"
import { RelativePath } from "../../../../schema/records/Primitives.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { active, applied, type InstallOptions, replanned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(60_000)

const tests = suite(testPlane({ runner: pureRunner(pureModules()) }))
afterAll(tests.dispose)

const base = {
  "apps/a/main.tf": `${pureModule["main.tf"]}\nmodule "net" {\n  source = "../../shared/net"\n}\n`,
  "apps/b/main.tf": 'resource "terraform_data" "b" {\n  input = "b"\n}\n',
  "shared/net/main.tf": 'output "n" {\n  value = 1\n}\n'
}
type Files = Readonly<Record<string, string>>

const otherModule = { "apps/b/main.tf": 'output "b" {\n  value = 1\n}\n' }
const sharedModule = { "shared/net/main.tf": 'output "n" {\n  value = 2\n}\n' }

/**
 * Sets up a Capsule for the module `apps/a` on a branch, and a function that commits, syncs and returns the Capsule's
 * status.
 */
const filtered = Effect.fnUntraced(function* (branch: string, more: InstallOptions = {}) {
  const { commit, context } = yield* TestPlane
  const capsules = yield* Capsules
  const capsuleCommands = yield* CapsuleCommands
  const sources = yield* Sources
  const { capsule } = yield* active(branch, base, { ...more, options: { modulePath: RelativePath.make("apps/a") } })
  const update = (request: { readonly pathFilter?: boolean; readonly autoUpdate?: { readonly enabled: boolean } }) =>
    capsuleCommands.Update(capsule.id, { context, ...request })
  const read = Effect.map(capsules.read(capsule.id), standing)
  const after = Effect.fnUntraced(function* (files: Files) {
    yield* commit(branch, { ...base, ...files })
    yield* settled((yield* sources.sync(context, capsule.sourceId, {})).id)
    return yield* read
  })
  return { capsule, after, read, update }
})

const standing = ({ staleReasons, status }: Capsule) => [
  status,
  ...staleReasons.map(({ because, kind }) => because ?? kind)
]

describe("path filters", () => {
  tests.live("a Capsule with a path filter becomes stale only if a commit touches its module", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const { after, capsule, read, update } = yield* filtered("monorepo")
      expect(capsule.pathFilter).toBe(false)
      expect(yield* after(otherModule)).toEqual(["stale", "commit"])
      // Turning the path filter on or off triggers a comparison immediately.
      const on = yield* update({ pathFilter: true })
      expect([on.pathFilter, ...standing(on)]).toEqual([true, "active"])
      const off = yield* update({ pathFilter: false })
      expect([off.pathFilter, ...standing(off)]).toEqual([false, "stale", "commit"])
      yield* update({ pathFilter: true })
      const { subject = "" } = context.actor
      const { items } = yield* (yield* Audit).list(workspaceId, subject, { action: "capsule.update" }, { limit: 50 })
      expect(items.map(({ data }) => data?.["fields"])).toContainEqual(["pathFilter"])

      const shared = ["stale", "shared/net/main.tf changed"]
      expect(yield* after({ ...otherModule, ...sharedModule })).toEqual(shared)
      // A later commit that leaves the module unchanged does not hide the earlier change.
      expect(yield* after({ ...sharedModule, "docs/b.md": "1" })).toEqual(shared)
      expect(yield* after({ "docs/b.md": "1" })).toEqual(["active"])
      // Applying an older plan after the lane has moved on also triggers a comparison.
      const older = yield* replanned(capsule.id)
      expect(yield* after({ "docs/c.md": "1" })).toEqual(["active"])
      expect((yield* applied(older)).status).toBe("succeeded")
      expect(yield* read).toEqual(["active"])

      expect(yield* after({ ".well-known/svc.json": "{}" })).toEqual(["stale", "The manifest changed"])
      const computed = { "apps/a/read.tf": "locals {\n  x = fileexists(terraform.workspace)\n}\n" }
      expect(yield* after(computed)).toEqual(["stale", "fileexists() reads a path that is computed (apps/a/read.tf:2)"])
    })
  )

  tests.live("auto-update skips a commit that does not touch the module, and records the skip", () =>
    Effect.gen(function* () {
      const capsules = yield* Capsules
      const { after, capsule, update } = yield* filtered("followed")
      yield* update({ pathFilter: true, autoUpdate: { enabled: true } })
      expect(yield* after(otherModule)).toEqual(["active"])
      const decided = (count: number) =>
        eventually(
          Effect.map(capsules.autoUpdateDecisions(capsule.id, { limit: 10 }), ({ items }) =>
            items.map(({ decision, message, reason }) => [decision, reason, message])
          ),
          (items) => items.length === count
        )
      const untouched = ["skipped", "untouched", "The commit touches nothing of this module."]
      expect((yield* decided(2))[0]).toEqual(untouched)
      // Without the filter, auto-update follows the commit immediately.
      yield* update({ pathFilter: false })
      expect((yield* decided(2))[0]?.[0]).toBe("taken")
    })
  )

  tests.live("a Capsule with a source build becomes stale with every commit", () =>
    Effect.gen(function* () {
      const sourceBuild = { commands: [{ argv: ["true"] }], outputs: [RelativePath.make("out")] }
      const { after, update } = yield* filtered("built", { initialConfiguration: { sourceBuild } })
      yield* update({ pathFilter: true })
      expect(yield* after(otherModule)).toEqual(["stale", "The Capsule is built from its source"])
    })
  )
})
