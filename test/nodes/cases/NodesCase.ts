import type { Effect, Layer, Scope } from "effect"
import type { platform } from "../../../src/composition/Platform.ts"
import type { NodesWorld } from "../support/NodesWorld.ts"

/** A history of several servers, which judges itself. Cases share a world until one of them fails. */
export interface NodesCase {
  readonly name: string
  /** True if the short form runs this case. */
  readonly isShort: boolean
  /** `label` begins the names of everything that the case makes. */
  readonly run: (
    world: NodesWorld,
    label: string
  ) => Effect.Effect<unknown, unknown, Layer.Success<typeof platform> | Scope.Scope>
}
