import { Effect, Schedule } from "effect"
import { provider } from "../../agents/support/AgentModules.ts"
import type { NodesWorld } from "./NodesWorld.ts"

/** A person who writes continuously. */
export interface Writer {
  /** The records whose creation was acknowledged. */
  readonly acknowledged: ReadonlySet<string>
  /** Returns the longest time between two responses since the last call, in milliseconds. */
  readonly longestGap: () => number
}

let writers = 0

/**
 * Creates Connections until the Scope closes, each on the next server that the balancer chooses. Does not repeat a request
 * without a response, because such a request may have taken effect.
 */
export const writer = Effect.fn("writer")(function* (world: NodesWorld) {
  writers += 1
  const who = writers
  const acknowledged = new Set<string>()
  let count = 0
  let last = performance.now()
  let gap = 0
  const look = () => {
    const passed = performance.now() - last
    return Math.max(gap, passed)
  }
  const write = Effect.gen(function* () {
    count += 1
    const { connection } = yield* world.client.connections.create({
      payload: {
        workspaceId: world.workspace.id,
        provider,
        displayName: `writer ${who}, ${count}`,
        values: { DEMO_TOKEN: `a value of writer ${who}` }
      }
    })
    acknowledged.add(connection.id)
    gap = look()
    last = performance.now()
  }).pipe(Effect.timeout("5 seconds"), Effect.ignore)
  yield* Effect.forkScoped(Effect.repeat(write, Schedule.spaced("400 millis")))
  const made: Writer = {
    acknowledged,
    longestGap: () => {
      const found = look()
      gap = 0
      return found
    }
  }
  return made
})
