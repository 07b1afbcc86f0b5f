import { describe, expect } from "bun:test"
import { fileURLToPath } from "node:url"
import { Effect, FileSystem, Redacted } from "effect"
import { platform } from "../../src/composition/Platform.ts"
import { journeyTo, keptAgent } from "../agents/cases/Journeys.ts"
import { agentWorld } from "../agents/support/AgentWorld.ts"
import { it } from "../support/Effect.ts"
import { emptyDatabase, hasPostgres } from "../support/PostgresTests.ts"

const main = fileURLToPath(new URL("../../src/Main.ts", import.meta.url))
const hasTool = Bun.which("tofu") !== null || Bun.which("terraform") !== null

describe.skipIf(!hasPostgres || !hasTool)("Main workflow on PostgreSQL", () => {
  it.live(
    "a server with an empty PostgreSQL database plans, applies and checks a Capsule on an agent",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-postgres-job-" })
        const server = `${folder}/svc`
        yield* files.writeFileString(server, `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`, { mode: 0o755 })
        const url = yield* emptyDatabase()
        const world = yield* agentWorld({ folder, server, serverEnv: { SVC_DATABASE_URL: Redacted.value(url) } })
        const agent = yield* keptAgent(yield* world.agent("one"))
        const runs = yield* journeyTo(world, agent, "n1", "drift", [])
        expect(runs.map(({ status, type }) => ({ type, status }))).toEqual([
          { type: "plan", status: "waiting_approval" },
          { type: "apply", status: "succeeded" },
          { type: "drift_check", status: "succeeded" }
        ])
        expect(yield* files.exists(`${folder}/data/svc.sqlite`)).toBe(false)
      }).pipe(Effect.provide(platform)),
    600_000
  )
})
