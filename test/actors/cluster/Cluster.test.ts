import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { Sources } from "../../../actors/source/Sources.ts"
import { derivedId } from "../../../actors/Identity.ts"
import { SourceId } from "../../../schema/records/Ids.ts"
import { suite } from "../../support/Effect.ts"
import { TestPlane, testPlane } from "../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

// The cluster admits 10,000 actors at a time unless told otherwise, and every command to one more would be refused.
const manyRecords = 10_500

tests.live("commands to many records in a short time are all accepted", () =>
  Effect.gen(function* () {
    const { context } = yield* TestPlane
    const sources = yield* Sources
    const codes = yield* Effect.forEach(
      Array.from({ length: manyRecords }, (_, index) => derivedId(SourceId, "src", "many-records", String(index))),
      (id) => Effect.map(Effect.flip(sources.update(context, id, { name: "renamed" })), ({ code }) => code),
      { concurrency: 100 }
    )
    expect([...new Set(codes)]).toEqual(["not_found"])
  })
)
