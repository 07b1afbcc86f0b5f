import type { Effect, Layer, Scope } from "effect"
import type { platform } from "../../../src/composition/Platform.ts"
import type { AgentWorld, WorldOptions } from "../support/AgentWorld.ts"

export type Services = Layer.Success<typeof platform> | Scope.Scope

/** Resources that the cases of a lane share: a server, and unused names. */
export interface Lane {
  readonly world: AgentWorld
  readonly nextLabel: () => string
}

/** A fault in the connection or an agent. Cases of the same kind share a world. */
export interface LaneCase {
  readonly name: string
  readonly run: (lane: Lane) => Effect.Effect<unknown, unknown, Services>
}

/** A case that needs a separate world and checks that world itself. */
export interface WorldCase {
  readonly name: string
  readonly run: (options: WorldOptions) => Effect.Effect<unknown, unknown, Services>
}
