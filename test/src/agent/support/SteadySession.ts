import { Effect, identity, Layer } from "effect"
import { agentCalls, AgentSession } from "../../../../src/agent/AgentSession.ts"

/** A session that has started and never ends. Its server accepts small files within messages. */
export const steadySession = Layer.effect(
  AgentSession,
  Effect.map(agentCalls("http://server.example.test", identity), (calls) => ({
    calls,
    authorised: identity,
    generation: () => 1,
    takesFiles: () => true,
    begin: () => Effect.void,
    renewSeconds: () => 1,
    isDue: Effect.succeed(false)
  }))
)
