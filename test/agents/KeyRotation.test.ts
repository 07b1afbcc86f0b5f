import { join } from "node:path"
import { expect } from "bun:test"
import { Effect, Schema } from "effect"
import { AgentKeys } from "../../schema/agent/AgentIdentity.ts"
import { platform } from "../../src/composition/Platform.ts"
import { it } from "../support/Effect.ts"
import { agentWorld } from "./support/AgentWorld.ts"

const isOver = ({ status }: { readonly status: string }) => status !== "queued" && status !== "running"
const decodeKeys = Schema.decodeUnknownEffect(Schema.Struct({ public: AgentKeys }))

it.live(
  "an agent whose tool applies gets new keys, and goes on with the apply and with the Runs after it",
  () =>
    Effect.gen(function* () {
      const world = yield* agentWorld()
      const one = yield* world.agent("one")
      const keys = Effect.promise(() => Bun.file(join(one.folder, "keys.json")).json()).pipe(Effect.flatMap(decodeKeys))
      yield* one.start
      const { planRunId } = yield* world.installed
      yield* world.until(planRunId, isOver)
      const before = yield* keys
      yield* world.hold
      const applyId = yield* world.approvedApply(planRunId)
      yield* world.held
      expect(JSON.parse(yield* one.rotate)).toEqual({ keys: "in_use" })
      expect((yield* keys).public).not.toEqual(before.public)
      expect((yield* world.run(applyId)).status).toBe("running")
      yield* world.release
      expect(yield* world.until(applyId, isOver)).toMatchObject({ status: "succeeded" })
      // The next one is sealed for the new keys.
      const later = yield* world.installed
      expect(yield* world.until(later.planRunId, isOver)).toMatchObject({ status: "waiting_approval" })
    }).pipe(Effect.provide(platform)),
  110_000
)
