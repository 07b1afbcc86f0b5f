import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { suite } from "../../../support/Effect.ts"
import { active } from "../../../support/Journey.ts"
import { testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

describe("Commit descriptions", () => {
  tests.live(
    "every record of a commit includes the commit's description, unless an earlier release fetched the commit",
    () =>
      Effect.gen(function* () {
        const capsules = yield* Capsules
        const sources = yield* Sources
        const runs = yield* Runs
        const { capsule } = yield* active("described", greeting("one"))
        const description = capsule.adoptedCommitDescription
        expect(description).toMatchObject({ authorName: "svc" })
        expect(description?.title).not.toBe("")
        const everywhere = Effect.gen(function* () {
          const { items: snapshots } = yield* sources.snapshots(capsule.sourceId, { limit: 1 })
          const { lanes = [] } = yield* sources.read(capsule.sourceId)
          const list = yield* runs.list(capsule.workspaceId, { capsuleId: capsule.id }, { limit: 1 })
          const run = list.items[0] ?? (yield* Effect.die("no Run"))
          return [
            snapshots[0]?.commitDescription,
            lanes[0]?.commitDescription,
            run.commitDescription,
            (yield* runs.read(run.id)).commitDescription,
            (yield* capsules.read(capsule.id)).adoptedCommitDescription
          ]
        })
        const found = yield* everywhere
        expect(found).toEqual(found.map(() => description))
        yield* (yield* SqlClient.SqlClient)`UPDATE source_snapshots SET commit_description = NULL`
        expect(yield* everywhere).toEqual(found.map(() => undefined))
      })
  )
})
