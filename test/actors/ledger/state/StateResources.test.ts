import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readBacklog } from "../../../../actors/ledger/state/StateBacklog.ts"
import { StateResources } from "../../../../actors/ledger/state/StateResources.ts"
import type { CapsuleId, StateVersionId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { namedRun } from "../../../support/NamedIds.ts"
import {
  committed,
  emptyCapsules,
  first,
  indexServices,
  resource,
  second,
  stateText,
  unread
} from "./support/IndexedCapsule.ts"
import { createTrigger, dropTrigger } from "../../../support/Dialect.ts"

const tests = suite(indexServices)
afterAll(tests.dispose)

const canary = "canary-7c1e-value"

const list = Effect.fnUntraced(function* (address?: string, capsuleId: CapsuleId = first) {
  return yield* (yield* StateResources).list(capsuleId, { address }, { limit: 100 })
})

const difference = Effect.fnUntraced(function* (id: StateVersionId, from?: StateVersionId) {
  return (yield* (yield* StateResources).difference(id, from, { limit: 100 })).difference
})

/** Returns the rows as text, as seen by a person who can read only the database. */
const stored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return JSON.stringify([
    yield* sql`SELECT * FROM resource_versions ORDER BY capsule_id, address, deposed, valid_from`,
    yield* sql`SELECT * FROM output_versions ORDER BY capsule_id, name, valid_from`
  ])
}).pipe(Effect.orDie)

const vpc = (name: string) => resource("aws_vpc.main", { id: "vpc-1", name })
const bucket = resource("aws_s3_bucket.logs", { id: "logs", tags: { a: "b" }, empty: null })
const queue = resource("aws_sqs_queue.jobs", { id: "https://queue/jobs" })

/**
 * Three states. The second state changes one resource and adds another. The third state removes one resource and reverts the
 * first change.
 */
const history = Effect.gen(function* () {
  yield* emptyCapsules
  return [
    yield* committed(1, stateText([vpc("one"), bucket], { url: "a", gone: "x" })),
    yield* committed(2, stateText([vpc("two"), bucket, queue], { url: "b", added: "y" })),
    yield* committed(3, stateText([vpc("one"), queue], { url: "b", added: "y" }))
  ] as const
})

tests.live("a Capsule lists the resources in its current state, each with the Run that last changed it", () =>
  Effect.gen(function* () {
    const [, , current] = yield* history
    const { indexed, items, stateVersionId } = yield* list()
    expect({ indexed, stateVersionId }).toEqual({ indexed: true, stateVersionId: current })
    expect(items).toMatchObject([
      {
        address: "aws_sqs_queue.jobs",
        type: "aws_sqs_queue",
        provider: "hashicorp/aws",
        changedByRunId: namedRun("a2")
      },
      { address: "aws_vpc.main", id: "vpc-1", changedByRunId: namedRun("a3") }
    ])
    expect((yield* list("sqs")).items.map(({ address }) => address)).toEqual(["aws_sqs_queue.jobs"])
    // The search treats wildcards literally and matches case.
    expect((yield* list("SQS")).items).toEqual([])
    expect((yield* list("aws%main")).items).toEqual([])
    expect(yield* list(undefined, second)).toMatchObject({ indexed: true, items: [], stateVersionId: undefined })
  })
)

tests.live("consecutive states with an unchanged resource share one stored row", () =>
  Effect.gen(function* () {
    yield* emptyCapsules
    const sql = yield* SqlClient.SqlClient
    for (const generation of [1, 2, 3, 4, 5])
      yield* committed(generation, stateText([vpc("one"), bucket], { url: "a" }))
    expect(yield* sql`SELECT COUNT(*) AS n FROM resource_versions`).toEqual([{ n: 2 }])
    expect(yield* sql`SELECT COUNT(*) AS n FROM output_versions`).toEqual([{ n: 1 }])
    expect((yield* list()).items.map(({ changedByRunId }) => changedByRunId)).toEqual([namedRun("a1"), namedRun("a1")])
  })
)

tests.live("two states can be compared in both directions, and the comparison shows only resource names", () =>
  Effect.gen(function* () {
    const [one, two, three] = yield* history
    const forth = yield* difference(two)
    expect(forth).toEqual({
      from: one,
      to: two,
      indexed: true,
      resources: [
        { address: "aws_sqs_queue.jobs", type: "aws_sqs_queue", provider: "hashicorp/aws", change: "added" },
        {
          address: "aws_vpc.main",
          type: "aws_vpc",
          provider: "hashicorp/aws",
          change: "changed",
          changedAttributes: ["name"]
        }
      ],
      outputs: [
        { name: "added", change: "added" },
        { name: "gone", change: "removed" },
        { name: "url", change: "changed" }
      ]
    })
    const back = yield* difference(one, two)
    expect(back.resources.map(({ address, change }) => [address, change])).toEqual([
      ["aws_sqs_queue.jobs", "removed"],
      ["aws_vpc.main", "changed"]
    ])
    expect(back.outputs.map(({ change }) => change)).toEqual(["removed", "added", "changed"])
    // A value that changed and then changed back counts as equal.
    expect((yield* difference(three, one)).resources.map(({ address, change }) => [address, change])).toEqual([
      ["aws_s3_bucket.logs", "removed"],
      ["aws_sqs_queue.jobs", "added"]
    ])
    expect((yield* difference(one)).resources.map(({ change }) => change)).toEqual(["added", "added"])
    expect((yield* difference(two, two)).resources).toEqual([])
  })
)

tests.live("a state cannot be compared with another Capsule's state or a nonexistent state", () =>
  Effect.gen(function* () {
    const [one, two] = yield* history
    const other = yield* committed(1, stateText([vpc("other")]), { capsuleId: second })
    expect((yield* Effect.flip(difference(two, other))).code).toBe("invalid_request")
    yield* (yield* SqlClient.SqlClient)`UPDATE capsules SET current_state_version_id = NULL WHERE id = ${second}`
    yield* emptyCapsules
    expect((yield* Effect.flip(difference(one))).code).toBe("not_found")
  })
)

tests.live("pages of resources are ordered by address, and a cursor is valid only for the list it came from", () =>
  Effect.gen(function* () {
    yield* emptyCapsules
    const names = ["a", "b", "c", "d", "e"]
    const id = yield* committed(1, stateText(names.map((name) => resource(`aws_vpc.${name}`, { id: name }))))
    const resources = yield* StateResources
    const found: Array<string> = []
    const compared: Array<string> = []
    for (let cursor: string | undefined, page = 0; page === 0 || cursor !== undefined; page += 1) {
      const { items, nextCursor } = yield* resources.list(first, {}, { limit: 2, cursor })
      found.push(...items.map(({ address }) => address))
      if (cursor !== undefined) {
        expect((yield* Effect.flip(resources.list(first, { address: "vpc" }, { limit: 2, cursor }))).code).toBe(
          "invalid_request"
        )
      }
      cursor = nextCursor
    }
    for (let cursor: string | undefined, page = 0; page === 0 || cursor !== undefined; page += 1) {
      const answer = yield* resources.difference(id, undefined, { limit: 2, cursor })
      compared.push(...answer.difference.resources.map(({ address }) => address))
      cursor = answer.nextCursor
    }
    expect(found).toEqual(names.map((name) => `aws_vpc.${name}`))
    expect(compared).toEqual(found)
  })
)

tests.live("a list of resources contains no values and no ids that may be secret", () =>
  Effect.gen(function* () {
    yield* emptyCapsules
    const same = (address: string) => resource(address, { id: "plain", same: canary })
    const state = stateText(
      [
        resource("aws_key.marked", { id: canary, name: "n" }, { sensitive: ["id"] }),
        // This secret is too short to be searched for in other values.
        resource("aws_key.short", { id: "7" }, { sensitive: ["id"] }),
        resource("aws_key.repeats", { id: `arn:${canary}`, secret: canary }, { sensitive: ["secret"] }),
        resource("aws_key.input", { id: "secret-input/1" }),
        resource("random_id.value", { id: "aGVsbG8" }, { provider: "hashicorp/random" }),
        same("aws_key.one"),
        same("aws_key.two")
      ],
      { url: canary }
    )
    yield* committed(1, state, { secrets: ["secret-input"] })
    yield* committed(1, state, { capsuleId: second, secrets: ["secret-input"] })
    expect((yield* list()).items.flatMap(({ address, id }) => (id === undefined ? [] : [[address, id]]))).toEqual([
      ["aws_key.one", "plain"],
      ["aws_key.two", "plain"]
    ])
    const text = yield* stored
    for (const value of [canary, "secret-input", "aGVsbG8"]) expect(text).not.toContain(value)
    // Equal values in different places have different digests, so the digests do not reveal that the values are equal.
    const digests = [...text.matchAll(/\\"same\\":\\"([\w-]+)\\"/g)].map(([, digest]) => digest)
    expect(digests).toHaveLength(4)
    expect(new Set(digests).size).toBe(4)
  })
)

tests.live("a resource id that turns out to be a secret is erased from all earlier rows", () =>
  Effect.gen(function* () {
    yield* emptyCapsules
    yield* committed(1, stateText([resource("aws_key.a", { id: "token-123456", n: 1 })]))
    yield* committed(2, stateText([resource("aws_key.a", { id: "token-123456", n: 2 })]))
    expect(yield* stored).toContain("token-123456")
    yield* committed(3, stateText([resource("aws_key.a", { id: "token-123456", n: 2 }, { sensitive: ["id"] })]))
    expect(yield* stored).not.toContain("token-123456")
  })
)

tests.live("an object that awaits destruction is listed with its replacement", () =>
  Effect.gen(function* () {
    yield* emptyCapsules
    yield* committed(1, stateText([vpc("one")]))
    const id = yield* committed(
      2,
      stateText([vpc("two"), resource("aws_vpc.main", { id: "vpc-1" }, { deposed: "ab12" })])
    )
    expect((yield* list()).items.map(({ address, deposed }) => [address, deposed])).toEqual([
      ["aws_vpc.main", undefined],
      ["aws_vpc.main", "ab12"]
    ])
    expect((yield* difference(id)).resources.map(({ change, deposed }) => [change, deposed])).toEqual([
      ["changed", undefined],
      ["added", "ab12"]
    ])
  })
)

tests.live("states from earlier releases are read in the background, and marked as unread until then", () =>
  Effect.gen(function* () {
    const [one, two] = yield* history
    const before = yield* stored
    yield* unread
    expect(yield* list()).toMatchObject({ indexed: false, items: [] })
    expect(yield* difference(two, one)).toMatchObject({ indexed: false, resources: [], outputs: [] })
    // A state that is committed during the background read is processed after the earlier states.
    yield* committed(4, stateText([vpc("one")], { url: "b" }))
    expect(yield* list()).toMatchObject({ indexed: false })
    yield* readBacklog
    expect((yield* list()).items.map(({ address, changedByRunId }) => [address, changedByRunId])).toEqual([
      ["aws_vpc.main", namedRun("a3")]
    ])
    expect((yield* difference(two, one)).resources).toHaveLength(2)
    // The result is the same as if each state had been read at its commit, and a second pass adds nothing.
    const sql = yield* SqlClient.SqlClient
    const count = sql`SELECT COUNT(*) AS n FROM resource_versions WHERE valid_from < 4`
    expect(yield* count).toEqual([{ n: JSON.parse(before)[0].length }])
    const after = yield* stored
    yield* readBacklog
    expect(yield* stored).toBe(after)
    yield* committed(5, stateText([vpc("five")]))
    expect(yield* list()).toMatchObject({ indexed: true })
  })
)

tests.live("an interrupted background read of states resumes where it stopped", () =>
  Effect.gen(function* () {
    yield* history
    const before = yield* stored
    const sql = yield* SqlClient.SqlClient
    yield* unread
    yield* createTrigger(
      sql,
      "CREATE TRIGGER dies BEFORE INSERT ON state_indexes WHEN NEW.generation = 3 BEGIN SELECT RAISE(ABORT, 'killed'); END"
    )
    yield* Effect.exit(readBacklog)
    yield* dropTrigger(sql, "dies")
    expect(yield* sql`SELECT generation FROM state_indexes ORDER BY generation`).toEqual([
      { generation: 1 },
      { generation: 2 }
    ])
    yield* readBacklog
    expect(yield* stored).toBe(before)
  })
)

tests.live("an unreadable state is skipped, and the next state is compared with the last readable state", () =>
  Effect.gen(function* () {
    yield* emptyCapsules
    const sql = yield* SqlClient.SqlClient
    yield* committed(1, stateText([vpc("one")]))
    const encrypted = JSON.stringify({ serial: 2, lineage: "lineage", encrypted_data: "x" })
    const hidden = yield* committed(2, encrypted)
    expect(yield* list()).toMatchObject({ indexed: false, items: [] })
    expect(yield* difference(hidden)).toMatchObject({ indexed: false })
    const last = yield* committed(3, stateText([vpc("one")]))
    expect((yield* list()).items).toMatchObject([{ changedByRunId: namedRun("a1") }])
    expect(yield* difference(last)).toMatchObject({ indexed: false })
    // A state that cannot be decrypted does not delay the next states.
    yield* unread
    yield* sql`UPDATE state_versions SET state = 'damaged' WHERE id = ${hidden}`
    yield* readBacklog
    expect(yield* list()).toMatchObject({ indexed: true })
    expect(yield* sql`SELECT outcome FROM state_indexes ORDER BY generation`).toEqual([
      { outcome: "indexed" },
      { outcome: "unreadable" },
      { outcome: "indexed" }
    ])
  })
)

tests.live("resource ids are hidden until the secrets of their state are known", () =>
  Effect.gen(function* () {
    yield* history
    yield* unread
    yield* (yield* SqlClient.SqlClient)`UPDATE state_versions SET sealed_secrets = NULL`
    yield* readBacklog
    expect((yield* list()).items.map(({ id }) => id)).toEqual([undefined, undefined])
  })
)

tests.live(
  "a list of resources hides the paths of folders used by Runs, the server and agents if a program wrote such a path into a state",
  () =>
    Effect.gen(function* () {
      yield* emptyCapsules
      const folder = (letter: string) => `/srv/canary/${letter}/runs/run_01${letter.repeat(24)}-1/capsule`
      const found = (letter: string) => [
        resource("aws_s3_bucket.each", { id: `${folder(letter)}/source/a` }, { key: `${folder(letter)}/source` }),
        resource("aws_s3_bucket.each", { id: "b" }, { key: `${folder(letter)}/home` }),
        resource("aws_vpc.main", { id: "vpc-1", path: folder(letter) })
      ]
      const one = yield* committed(1, stateText(found("a"), { where: folder("a") }))
      const two = yield* committed(2, stateText(found("b"), { where: folder("b") }))
      const shown = yield* list()
      expect(shown.items.map(({ address, id }) => [address.replace(/[0-9a-f]{12}/, "digest"), id]).toSorted()).toEqual([
        ['aws_s3_bucket.each["[redacted key digest]"]', undefined],
        ['aws_s3_bucket.each["[redacted key digest]"]', "b"],
        ["aws_vpc.main", "vpc-1"]
      ])
      const differences = [yield* difference(two), yield* difference(one, two)]
      expect(differences[0]?.resources).toHaveLength(5)
      const resources = yield* StateResources
      const searched = yield* resources.list(first, { search: "canary" }, { limit: 1 })
      expect(searched.items).toEqual([])
      const page = yield* resources.list(first, {}, { limit: 1 })
      const [cursor = ""] = page.nextCursor?.split(".") ?? []
      const everything = JSON.stringify([shown, differences, page, Buffer.from(cursor, "base64url").toString()])
      expect(everything).not.toContain("canary")
      expect(yield* stored).not.toContain("canary")
    })
)
