import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { suite } from "../../../support/Effect.ts"
import { active, replanned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(60_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

describe("Changed files", () => {
  tests.live("a Run lists the files of its module that were added, changed or removed since the last apply", () =>
    Effect.gen(function* () {
      const { commit, context } = yield* TestPlane
      const runs = yield* Runs
      const sources = yield* Sources
      const { capsule, plan } = yield* active("files", {
        ...greeting("one"),
        "gone.tf": "",
        "elsewhere/README.md": "not of the module"
      })
      expect(yield* runs.sourceChanges(plan.id)).toEqual({ runId: plan.id, status: "first", files: [], fileCount: 0 })

      yield* commit("files", { ...greeting("two"), "new.tf": "", "elsewhere/README.md": "other" })
      yield* settled((yield* sources.sync(context, capsule.sourceId, {})).id)
      const next = yield* replanned(capsule.id)
      const changes = yield* runs.sourceChanges(next.id)
      expect(changes).toMatchObject({
        status: "compared",
        scope: "module",
        since: {
          resolvedCommit: capsule.adoptedSourceRevision?.resolvedCommit,
          commitDescription: { authorName: "svc" }
        },
        fileCount: 3
      })
      expect(changes.files).toEqual([
        { path: "gone.tf", change: "removed" },
        { path: "main.tf", change: "changed" },
        { path: "new.tf", change: "added" }
      ])

      const check = yield* (yield* CapsuleCommands).DriftCheck(capsule.id, { context })
      expect((yield* runs.sourceChanges((yield* settled(check.id)).id)).files).toEqual([])
      yield* (yield* SqlClient.SqlClient)`UPDATE source_snapshots SET archive_digest = ${`sha256:${"0".repeat(64)}`}
        WHERE id = ${capsule.adoptedSourceRevision?.sourceSnapshotId ?? ""}`
      expect(yield* runs.sourceChanges(next.id)).toMatchObject({ status: "not_stored", files: [], since: {} })
    })
  )
})
