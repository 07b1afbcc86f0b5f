import { Schema } from "effect"
import { CapsuleId, RunId } from "./Ids.ts"
import { InputChange } from "./ChangeEvidence.ts"

/** Maximum number of paths or addresses to list. The count is always complete. */
export const mostNamed = 20

/**
 * A difference since the last apply that may explain a change in a plan. Contains names, never values.
 * - `commit`: a different commit that changes files of the module; `fileCount` is absent if the files could not be compared
 * - `input`: an input with a different configured value
 * - `dependency`: an input for which another Capsule now provides a different value
 * - `drift`: the real object was changed or deleted outside svc
 * - `resource`: resources that this resource refers to, and that the same plan changes or that have drifted
 * - `data`: data sources that this resource refers to; their results are not recorded
 * - `connection`: different Connections for providers
 * - `operator`: a different profile or base configuration of the operator
 * - `tool`: a different tool, tool version or set of providers
 * - `unfinished`: the last apply stopped before it was complete
 * - `function`: a function in the module that returns a different result each time, such as `timestamp()`
 */
export const ChangeCause = Schema.Union([
  Schema.Struct({
    kind: Schema.Literal("commit"),
    from: Schema.String,
    to: Schema.String,
    fileCount: Schema.optionalKey(Schema.Int)
  }),
  Schema.Struct({ kind: Schema.Literal("input"), input: Schema.String, change: InputChange.fields.change }),
  Schema.Struct({
    kind: Schema.Literal("dependency"),
    input: Schema.String,
    change: InputChange.fields.change,
    producerCapsuleId: Schema.optionalKey(CapsuleId)
  }),
  Schema.Struct({ kind: Schema.Literal("drift"), addresses: Schema.Array(Schema.String), count: Schema.Int }),
  Schema.Struct({ kind: Schema.Literal("resource"), addresses: Schema.Array(Schema.String), count: Schema.Int }),
  Schema.Struct({ kind: Schema.Literal("data"), addresses: Schema.Array(Schema.String), count: Schema.Int }),
  Schema.Struct({ kind: Schema.Literal("connection") }),
  Schema.Struct({ kind: Schema.Literal("operator") }),
  Schema.Struct({ kind: Schema.Literal("tool") }),
  Schema.Struct({ kind: Schema.Literal("unfinished") }),
  Schema.Struct({ kind: Schema.Literal("function") })
]).annotate({ identifier: "ChangeCause" })
export type ChangeCause = typeof ChangeCause.Type

/**
 * The recorded causes of a plan's changes.
 *
 * - `compared`: compared with the last apply
 * - `first`: nothing was applied before, so there is nothing to compare with
 * - `destroy`: the plan removes everything, as requested
 * - `not_recorded`: the Run has no plan, or the release that created its plan recorded too little
 *
 * `causes` lists every difference. For each resource, `certain` is true if only one cause is possible; otherwise `causes` lists
 * the possible ones, and is empty if nothing recorded explains the change.
 */
export class ChangeCauses extends Schema.Opaque<ChangeCauses>()(
  Schema.Struct({
    runId: RunId,
    status: Schema.Literals(["compared", "first", "destroy", "not_recorded"]),
    causes: Schema.Array(ChangeCause),
    /** Parts that could not be compared. Each of these parts may be a cause. */
    unknown: Schema.Array(Schema.Literals(["commit", "inputs"])),
    resources: Schema.Array(
      Schema.Struct({ address: Schema.String, certain: Schema.Boolean, causes: Schema.Array(ChangeCause) })
    )
  }).annotate({ identifier: "ChangeCauses" })
) {}
