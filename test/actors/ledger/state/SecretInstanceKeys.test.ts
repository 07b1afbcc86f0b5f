import { readdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { Runs, RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { ResourceHistory } from "../../../../actors/ledger/state/ResourceHistory.ts"
import { readBacklog } from "../../../../actors/ledger/state/StateBacklog.ts"
import { StateResources } from "../../../../actors/ledger/state/StateResources.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import type { Run } from "../../../../schema/records/Run.ts"
import { DatabaseFile } from "../../../../actors/base/database/DatabaseFile.ts"
import { uncheckedKeys } from "../../../../schema/tables/StateIndexTables.ts"
import { contentOf } from "../../../support/CanarySweep.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, driven, freshKey, replanned, requestOf, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { appliedOutside, uploaded } from "../../support/OutsideState.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(180_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

const users = ["alice-TOPSECRET-1", "bob-TOPSECRET-2"]
const canary = "TOPSECRET"

const module = (resource: string, more = "") => ({
  "main.tf": `variable "users" {
      type      = list(string)
      sensitive = true
    }
    resource "terraform_data" "${resource}" {
      for_each = nonsensitive(toset(var.users))
      input    = "same"
    }
    resource "terraform_data" "shown" {
      for_each = toset(["eu-west"])
      input    = "same"
    }
    ${more}`
})

const everyPage = { limit: 100 }

const listed = Effect.fnUntraced(function* (capsuleId: CapsuleId, search?: string) {
  const { items } = yield* (yield* StateResources).list(capsuleId, { search }, everyPage)
  return items.map(({ address }) => address)
})

/** Returns everything that is stored, as text: an export, the data folder's files and a backup. */
const stored = Effect.gen(function* () {
  const { dataDir } = yield* TestPlane
  const backup = join(dataDir, "..", `${crypto.randomUUID()}.db`)
  yield* (yield* DatabaseFile).backup(backup)
  const folder = join(dataDir)
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  return [...files, backup].filter((file) => contentOf(file).includes(canary))
})

const eventsAndLog = Effect.fnUntraced(function* ({ id }: Run) {
  const streams = yield* RunStreams
  return [(yield* streams.events(id, 0, 1000)).items, (yield* streams.logs(id, 0, 1000)).items]
})

describe.skipIf(Bun.which("terraform") === null)("Secret instance keys", () => {
  tests.live("a secret instance key is never shown, and its resource has the same hidden address everywhere", () =>
    Effect.gen(function* () {
      const { commit, context } = yield* TestPlane
      const capsules = yield* CapsuleCommands
      const { apply, capsule, plan } = yield* active("secret-keys", module("user"), { variables: { users } })
      const addresses = yield* listed(capsule.id)
      const hidden = addresses.filter((address) => address.startsWith("terraform_data.user["))
      expect(addresses).toContain('terraform_data.shown["eu-west"]')
      // Keys that differ still lead to different addresses when they are hidden.
      expect(new Set(hidden).size).toBe(2)
      expect(hidden.every((address) => /\["\[redacted key [0-9a-f]{12}\]"\]$/.test(address))).toBe(true)
      const planned = (plan.resourceChanges ?? []).map(({ address }) => address)
      expect(planned.toSorted()).toEqual(addresses.toSorted())
      const completed = (yield* (yield* RunStreams).events(apply.id, 0, 1000)).items.flatMap(({ data, kind }) =>
        kind === "resource.completed" ? [data.address] : []
      )
      expect(completed.toSorted()).toEqual(addresses.toSorted())

      // Searching for a secret key finds nothing, so a search cannot confirm a guess.
      expect(yield* listed(capsule.id, "alice")).toEqual([])
      expect(yield* listed(capsule.id, users[0])).toEqual([])
      expect(yield* listed(capsule.id, hidden[0])).toEqual([hidden[0] ?? ""])

      // Reordering the input changes nothing, and a moved resource keeps its history.
      yield* commit(
        "secret-keys",
        module(
          "person",
          `moved {
            from = terraform_data.user
            to   = terraform_data.person
          }`
        )
      )
      yield* settled((yield* (yield* Sources).sync(context, capsule.sourceId, {})).id)
      const moving = yield* replanned(capsule.id)
      const moved = yield* applied(moving)
      expect(moved.status).toBe("succeeded")
      if (moved.stateVersionId === undefined) return yield* Effect.die("no StateVersion")
      const { difference } = yield* (yield* StateResources).difference(moved.stateVersionId, undefined, everyPage)
      const renamed = hidden.map((address) => address.replace("user", "person"))
      expect(
        difference.resources.map(({ address, change, previousAddress }) => [change, previousAddress, address])
      ).toEqual(hidden.toSorted().map((address) => ["moved", address, address.replace("user", "person")]))
      const [first = ""] = renamed
      const history = yield* (yield* ResourceHistory).history(capsule.id, { address: first }, everyPage)
      expect(history.items.map(({ change }) => change)).toEqual(["moved", "added"])

      const drift = yield* settled((yield* capsules.DriftCheck(capsule.id, { context })).id)
      const runs = [plan, apply, moving, moved, drift]
      const shown = JSON.stringify([
        yield* Effect.forEach(runs, ({ id }) => Effect.flatMap(Runs, (all) => all.read(id))),
        yield* Effect.forEach(runs, eventsAndLog),
        addresses,
        difference,
        history
      ])
      expect(shown).not.toContain(canary)
      expect(yield* stored).toEqual([])
    })
  )

  tests.live(
    "a secret instance key is hidden at once in an adopted state and in the problems that block its adoption",
    () =>
      Effect.gen(function* () {
        const { commit, context, workspaceId } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const upload = yield* uploaded(yield* appliedOutside(module("user"), { users: JSON.stringify(users) }))
        yield* commit("taken-keys", module("person"))
        const adopting = Effect.fnUntraced(function* (undeclared: ReadonlyArray<string>) {
          const adopt = { uploadId: upload.id, sha256: upload.sha256, undeclared }
          const request = { ...(yield* requestOf("taken-keys", { variables: { users } })), adopt }
          return yield* driven(
            (yield* (yield* InstallPlans).create(context, workspaceId, request, freshKey())).value.id
          )
        })
        const refused = yield* adopting([])
        expect(refused.diagnostics.map(({ code }) => code)).toEqual(["state_address_undeclared"])
        const named =
          refused.diagnostics[0]?.message.match(/terraform_data\.user\["\[redacted key [0-9a-f]{12}\]"\]/g) ?? []
        expect(named).toHaveLength(2)

        // A person may confirm with the hidden form of the address or with the real address.
        const { capsuleId, diagnostics, planRunId } = yield* adopting(named)
        expect(diagnostics).toEqual([])
        if (capsuleId === undefined || planRunId === undefined) return yield* Effect.die("no plan")
        const taken = (yield* listed(capsuleId)).filter((address) => address.startsWith("terraform_data.user["))
        expect(taken).toHaveLength(2)
        const plan = yield* settled(planRunId)
        const destroyed = (plan.resourceChanges ?? []).filter(({ actions }) => actions.includes("delete"))
        expect(destroyed.map(({ address }) => address).toSorted()).toEqual(taken.toSorted())
        const audit = yield* sql`SELECT data FROM audit_events WHERE action = 'capsule.adopt_state'`
        expect(JSON.stringify([refused, plan, audit])).not.toContain(canary)
        expect(yield* stored).toEqual([])
      })
  )

  tests.live(
    "an upgrade erases a secret instance key stored by an earlier release from the database, its log and new backups",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { capsule } = yield* active("earlier-keys", module("user"), { variables: { users } })
        const addresses = yield* listed(capsule.id)
        const hidden = addresses.filter((address) => address.startsWith("terraform_data.user["))
        for (const [index, address] of hidden.entries()) {
          yield* sql`UPDATE resource_versions SET address = ${`terraform_data.user["${users[index]}"]`}
          WHERE capsule_id = ${capsule.id} AND address = ${address}`
        }
        expect(yield* stored).not.toEqual([])
        for (const statement of uncheckedKeys) yield* sql.unsafe(statement)
        yield* readBacklog
        expect(yield* listed(capsule.id)).toEqual(addresses)
        expect(yield* stored).toEqual([])
      })
  )
})
