import { Schema, SchemaTransformation } from "effect"
import { AskedTime } from "../records/Primitives.ts"
import { RunStatus, RunTrigger, RunType } from "../records/Run.ts"

/** Accepts one or more distinct literals, separated by commas. */
const several = <const A extends string>(literals: Schema.Literals<ReadonlyArray<A>>) => {
  const is = Schema.is(literals)
  const words = literals.literals.join("|")
  return Schema.String.check(
    Schema.isPattern(new RegExp(`^(?:${words})(?:,(?:${words})){0,${literals.literals.length - 1}}$`), {
      description: `one of ${literals.literals.join(", ")}, or several separated by commas`
    })
  ).pipe(
    Schema.decodeTo(
      Schema.Array(literals),
      SchemaTransformation.transform<ReadonlyArray<A>, string>({
        decode: (text) => text.split(",").filter((word) => is(word)),
        encode: (chosen) => chosen.join(",")
      })
    )
  )
}

const id = Schema.String.check(Schema.isMaxLength(80))

/** Filters for a list of Runs. */
export const runFilterQuery = {
  search: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(200))),
  capsuleId: Schema.optionalKey(id),
  sourceId: Schema.optionalKey(id),
  actor: Schema.optionalKey(id),
  type: Schema.optionalKey(several(RunType)),
  status: Schema.optionalKey(several(RunStatus)),
  trigger: Schema.optionalKey(several(RunTrigger)),
  speculative: Schema.optionalKey(Schema.Literals(["true", "false"])),
  since: Schema.optionalKey(AskedTime),
  until: Schema.optionalKey(AskedTime)
}

/** Maximum number of Runs to count. Counting this many takes a few milliseconds. */
export const mostCounted = 10_000

const counted = <S extends Schema.Top>(value: S) => Schema.Array(Schema.Struct({ value, count: Schema.Int }))

/** Counts the Runs in the list for each value of a facet, highest count first. Omits values without Runs. */
export class RunFacets extends Schema.Opaque<RunFacets>()(
  Schema.Struct({
    type: counted(RunType),
    status: counted(RunStatus),
    trigger: counted(RunTrigger),
    /** Only the hundred people who started the most Runs. */
    actor: counted(Schema.String),
    /** Only the hundred Capsules with the most Runs. */
    capsule: counted(Schema.String),
    /** Number of Runs in the list. */
    total: Schema.Int,
    /** True if all Runs were counted. Otherwise only the newest Runs were counted, and the actual numbers may be higher. */
    complete: Schema.Boolean
  }).annotate({ identifier: "RunFacets" })
) {}
