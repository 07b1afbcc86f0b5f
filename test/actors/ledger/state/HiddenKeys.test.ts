import { afterAll, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { readBacklog } from "../../../../actors/ledger/state/StateBacklog.ts"
import { ResourceHistory } from "../../../../actors/ledger/state/ResourceHistory.ts"
import { StateResources } from "../../../../actors/ledger/state/StateResources.ts"
import { secretsPlace, StateVersions } from "../../../../actors/ledger/state/StateVersions.ts"
import { secretsText } from "../../../../actors/base/vault/SealedSecrets.ts"
import { Vault } from "../../../../actors/base/vault/Vault.ts"
import type { StateVersionId } from "../../../../schema/records/Ids.ts"
import { uncheckedKeys } from "../../../../schema/tables/StateIndexTables.ts"
import { suite } from "../../../support/Effect.ts"
import { committed, emptyCapsules, first, indexServices, resource, stateText } from "./support/IndexedCapsule.ts"
import { createTrigger, dropTrigger } from "../../../support/Dialect.ts"

const tests = suite(indexServices)
afterAll(tests.dispose)

const [alice, bob] = ["alice-TOPSECRET-1", "bob-TOPSECRET-2"]
const secrets = [alice, bob]
const hiddenAddress = /^aws_vpc\.main\["\[redacted key [0-9a-f]{12}\]"\]$/

const vpc = (key: string, name: string, more: Parameters<typeof resource>[2] = {}) =>
  resource("aws_vpc.main", { arn: "arn", name }, { key, ...more })
const both = stateText([vpc(alice, "a"), vpc(bob, "b"), vpc("eu-west", "c")])

const page = { limit: 100 }
const list = Effect.fnUntraced(function* (search?: string) {
  const { items } = yield* (yield* StateResources).list(first, { search }, page)
  return items.map(({ address }) => address)
})
const difference = Effect.fnUntraced(function* (id: StateVersionId, from: StateVersionId) {
  const { difference: found } = yield* (yield* StateResources).difference(id, from, page)
  return found.resources.map(({ address, change, changedAttributes = [] }) => [address, change, ...changedAttributes])
})
const changes = Effect.fnUntraced(function* (address: string) {
  const { items } = yield* (yield* ResourceHistory).history(first, { address }, page)
  return items.map(({ change, changedAttributes = [] }) => [change, ...changedAttributes].join(" "))
})
const rows = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT * FROM resource_versions`)

tests.live("secret instance keys get distinct rows that reveal nothing, even for deposed and tainted objects", () =>
  Effect.gen(function* () {
    yield* emptyCapsules
    const text = stateText([
      vpc(alice, "a", { tainted: true }),
      vpc(bob, "b"),
      vpc(bob, "old", { deposed: "ab12" }),
      vpc("eu-west", "c")
    ])
    yield* committed(1, text, { secrets })
    const addresses = yield* list()
    expect(addresses.filter((address) => hiddenAddress.test(address))).toHaveLength(3)
    expect(new Set(addresses).size).toBe(3)
    expect(addresses).toContain('aws_vpc.main["eu-west"]')
    expect(yield* list(alice)).toEqual([])
    expect(JSON.stringify(yield* rows)).not.toContain("TOPSECRET")
    // Committing the same contents again adds no rows.
    const before = JSON.stringify(yield* rows)
    yield* committed(2, text, { secrets: secrets.toReversed() })
    expect(JSON.stringify(yield* rows)).toBe(before)
  })
)

tests.live(
  "an instance key that later becomes a secret is permanently hidden in all rows, and hiding it does not count as a change",
  () =>
    Effect.gen(function* () {
      yield* emptyCapsules
      const one = yield* committed(1, both)
      const two = yield* committed(2, stateText([vpc(alice, "a2"), vpc(bob, "b"), vpc("eu-west", "c")]))
      expect(yield* list(alice)).toHaveLength(1)
      const three = yield* committed(3, stateText([vpc(alice, "a2"), vpc(bob, "b3"), vpc("eu-west", "c")]), { secrets })
      expect(JSON.stringify(yield* rows)).not.toContain("TOPSECRET")
      const hidden = (yield* list()).filter((address) => hiddenAddress.test(address))
      expect(hidden).toHaveLength(2)
      const [changed] = yield* difference(two, one)
      const [later] = yield* difference(three, two)
      expect([changed?.slice(1), later?.slice(1)]).toEqual([
        ["changed", "name"],
        ["changed", "name"]
      ])
      expect([changed?.[0], later?.[0]].toSorted()).toEqual(hidden.toSorted())
      expect(yield* changes(changed?.[0] ?? "")).toEqual(["changed name", "added"])
      expect(yield* changes(later?.[0] ?? "")).toEqual(["changed name", "added"])

      const four = yield* committed(4, both)
      expect((yield* list()).toSorted()).toEqual([...hidden, 'aws_vpc.main["eu-west"]'].toSorted())
      expect((yield* difference(four, three)).map(([, ...change]) => change)).toEqual([
        ["changed", "name"],
        ["changed", "name"]
      ])
    })
)

/** Rows stored by an earlier release, with the instance keys of a state that has secret inputs. */
const earlier = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const id = yield* committed(1, both)
  const row = yield* (yield* StateVersions).find(id)
  if (row === undefined) return yield* Effect.die("no StateVersion")
  const sealed = yield* (yield* Vault).seal(
    secretsPlace(row),
    secretsText(secrets.map((value) => ({ origin: "var.users", value: Redacted.make(value) })))
  )
  yield* sql`UPDATE state_versions SET sealed_secrets = ${sealed} WHERE id = ${id}`
  for (const statement of uncheckedKeys) yield* sql.unsafe(statement)
  return id
})

tests.live(
  "an upgrade hides instance keys of an earlier release before they are shown, even after an interruption",
  () =>
    Effect.gen(function* () {
      yield* emptyCapsules
      const sql = yield* SqlClient.SqlClient
      const one = yield* earlier
      expect(yield* list()).toEqual([])
      expect(yield* changes(`aws_vpc.main["${alice}"]`)).toEqual([])
      yield* createTrigger(
        sql,
        "CREATE TRIGGER dies BEFORE UPDATE ON state_indexes BEGIN SELECT RAISE(ABORT, 'killed'); END"
      )
      yield* Effect.exit(readBacklog)
      yield* dropTrigger(sql, "dies")
      expect(yield* list()).toEqual([])
      // A state that is committed during the upgrade is processed after the earlier states.
      const two = yield* committed(2, both, { secrets })
      expect(yield* list()).toEqual([])
      yield* readBacklog
      const hidden = (yield* list()).filter((address) => hiddenAddress.test(address))
      expect(hidden).toHaveLength(2)
      expect(JSON.stringify(yield* rows)).not.toContain("TOPSECRET")
      expect(yield* difference(two, one)).toEqual([])
      expect(yield* changes(hidden[0] ?? "")).toEqual(["added"])
      const before = JSON.stringify(yield* rows)
      yield* readBacklog
      expect(JSON.stringify(yield* rows)).toBe(before)
    })
)

tests.live(
  "an upgrade hides all instance keys of an earlier release while the secrets of their state are unknown",
  () =>
    Effect.gen(function* () {
      yield* emptyCapsules
      const sql = yield* SqlClient.SqlClient
      yield* earlier
      yield* sql`UPDATE state_versions SET sealed_secrets = NULL`
      yield* readBacklog
      expect((yield* list()).filter((address) => hiddenAddress.test(address))).toHaveLength(3)
    })
)
