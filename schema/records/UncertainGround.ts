import { Schema } from "effect"

/**
 * The reason why svc cannot be sure which objects a Capsule has. `left_over_state`: an apply left behind a state that does not
 * belong to the Capsule. `handed_in_state`: an agent submitted the state of a Run that had been given up. `possibly_created`: an
 * unfinished apply may have created objects that are not in its state.
 */
export const UncertainCode = Schema.Literals(["left_over_state", "handed_in_state", "possibly_created"])
export type UncertainCode = typeof UncertainCode.Type

/**
 * A reason why objects may exist that a plan does not include. The approval of the plan must acknowledge the code of this
 * reason.
 */
export class Uncertainty extends Schema.Opaque<Uncertainty>()(
  Schema.Struct({
    code: UncertainCode,
    /** The objects that may exist, and how to resolve the uncertainty. */
    message: Schema.String,
    /** True if an approval of this plan has acknowledged the code. */
    acknowledged: Schema.Boolean
  }).annotate({ identifier: "Uncertainty" })
) {}
