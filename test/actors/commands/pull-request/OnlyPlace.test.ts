import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { RunId } from "../../../../schema/records/Ids.ts"
import { RelativePath } from "../../../../schema/records/Primitives.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { branched, calm, followed, pullRef, readOf } from "../../support/PullRequestWorld.ts"

setDefaultTimeout(120_000)

const tests = suite(testPlane({ run: { buildConcurrency: 1, workspaceBuildConcurrency: 1 } }))
afterAll(tests.dispose)

describe.skipIf(Bun.which("terraform") === null)("The only place for Runs", () => {
  tests.live(
    "if the plan of a head uses the only slot, it gives way to a Run that a person started, and svc plans the head again",
    () =>
      Effect.gen(function* () {
        const { context, notesDir } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        // The build waits until the file `go` exists. During the first plan, it does.
        const go = join(notesDir, "go")
        const script = `mkdir out && echo x > out/x && until [ -e ${go} ]; do sleep 0.05; done`
        const sourceBuild = { commands: [{ argv: ["sh", "-c", script] }], outputs: [RelativePath.make("out")] }
        writeFileSync(go, "")
        const { base, secret, source } = yield* followed(
          "only",
          greeting("one"),
          { pullRequests: "own_branches" },
          { initialConfiguration: { sourceBuild } }
        )
        rmSync(go)
        yield* pullRef(1, yield* branched(base, "only-topic", greeting("two")))
        yield* (yield* Sources).hook(source.id, { proofs: { secrets: [secret] }, body: Stream.empty })
        const planning = Effect.orDie(
          sql<{
            id: RunId
          }>`SELECT id FROM runs WHERE coordinator_kind = 'pull_request' AND type = 'plan' AND status = 'running'`
        )
        const [first] = yield* eventually(planning, ({ length }) => length === 1)
        if (first === undefined) return yield* Effect.die("no plan")
        const sync = yield* settled((yield* (yield* Sources).sync(context, source.id, {})).id)
        expect(sync.status).toBe("succeeded")
        const stopped = yield* (yield* Runs).read(first.id)
        expect([stopped.status, stopped.endedBy?.reason]).toEqual(["cancelled", "Another Run goes first."])

        writeFileSync(go, "")
        yield* calm(source.id)
        const { capsules } = yield* readOf(source.id, 1)
        expect(capsules).toMatchObject([{ verdict: "planned", run: { status: "succeeded" } }])
        expect(capsules?.[0]?.run?.id).not.toBe(first.id)
      })
  )
})
