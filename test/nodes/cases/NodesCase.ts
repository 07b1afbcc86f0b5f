import type { Effect, Layer, Scope } from "effect"
import type { platform } from "../../../src/composition/Platform.ts"
import type { NodesWorld } from "../support/NodesWorld.ts"

/** A scenario with several servers that checks its own result. Cases share a world until one of them fails. */
export interface NodesCase {
  readonly name: string
  /** True if the short form runs this case. */
  readonly isShort: boolean
  /** `label` is the prefix of all names that the case creates. */
  readonly run: (
    world: NodesWorld,
    label: string
  ) => Effect.Effect<unknown, unknown, Layer.Success<typeof platform> | Scope.Scope>
}
