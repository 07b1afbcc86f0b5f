import { Schema } from "effect"
import { CapsuleId, RunId } from "./Ids.ts"
import { InputChange } from "./ChangeEvidence.ts"

/** A list of more paths and addresses than this would overwhelm a reader; the count is always complete. */
export const mostNamed = 20

/**
 * Something that differs since the last apply and may be why a plan changes anything. Names only, never a value.
 *
 * - `commit`: a different commit, in which files of the module differ; `fileCount` is absent if they could not be compared
 * - `input`: an input with a different value in the configuration
 * - `dependency`: an input for which another Capsule now supplies a different value
 * - `drift`: the real object was changed or deleted outside of svc
 * - `resource`: resources that this resource refers to and that the same plan changes, or that were changed outside
 * - `data`: data sources that this resource refers to; their results are not recorded
 * - `connection`: different Connections for providers
 * - `operator`: a different profile or base configuration set by the operator
 * - `tool`: a different tool, tool version or selection of providers
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
 * The recorded reasons for a plan's changes.
 *
 * - `compared`: with the last apply
 * - `first`: svc has not applied anything before, so there is nothing to compare with
 * - `destroy`: a person or a service requested the removal of everything
 * - `not_recorded`: the Run has no plan, or its plan was created by a release that recorded too little
 *
 * `causes` lists every difference. For each resource, `certain` indicates whether the evidence leaves only one possible cause;
 * otherwise `causes` lists the possible ones, and is empty if nothing recorded explains the change.
 */
export class ChangeCauses extends Schema.Opaque<ChangeCauses>()(
  Schema.Struct({
    runId: RunId,
    status: Schema.Literals(["compared", "first", "destroy", "not_recorded"]),
    causes: Schema.Array(ChangeCause),
    /** Parts that could not be compared, and therefore remain a possible cause. */
    unknown: Schema.Array(Schema.Literals(["commit", "inputs"])),
    resources: Schema.Array(
      Schema.Struct({ address: Schema.String, certain: Schema.Boolean, causes: Schema.Array(ChangeCause) })
    )
  }).annotate({ identifier: "ChangeCauses" })
) {}
