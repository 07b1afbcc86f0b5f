import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { now } from "../../base/Identity.ts"
import { changedUnder, type HoldLost, isHeld, type RunHold } from "./RunHold.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { table } from "../../base/database/Table.ts"

/** Each kind has a closed schema for its data. */
const PreparationKind = Schema.Literals(["plan", "apply", "drift_check"])
type PreparationKind = typeof PreparationKind.Type

/** Data that an execution prepares for its settlement: ids, digests and evidence as JSON, but no secrets. */
export const PreparationRow = table("run_preparations", {
  run_id: RunId,
  fence: Schema.Int,
  kind: PreparationKind,
  data: Schema.String,
  created_at: Timestamp
})

/** The schema of one kind of preparation. */
export interface PreparationSchema<A> {
  readonly kind: PreparationKind
  readonly json: Schema.Codec<A, string>
}

/**
 * The single row in which an execution prepares its settlement. The row belongs to a hold, so each claim prepares the
 * settlement again. `RunLifecycle` removes the row when the Run ends or is requeued.
 */
export class RunPreparations extends Context.Service<
  RunPreparations,
  {
    /** Call it once per hold, in the caller's transaction. */
    readonly save: <A>(hold: RunHold, schema: PreparationSchema<A>, prepared: A) => Effect.Effect<void, HoldLost>
    /**
     * Returns `none` if nothing was prepared under this hold. Also returns `none`, and logs the problem, if another release wrote
     * a row that cannot be decoded, so that recovery can still settle the Run.
     */
    readonly load: <A>(hold: RunHold, schema: PreparationSchema<A>) => Effect.Effect<Option.Option<A>>
  }
>()("svc/actors/ledger/run/RunPreparations") {
  static readonly layer = Layer.effect(
    RunPreparations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const save = Effect.fnUntraced(function* <A>(hold: RunHold, { json, kind }: PreparationSchema<A>, prepared: A) {
        const data = yield* Effect.orDie(Schema.encodeEffect(json)(prepared))
        const at = yield* now
        const saved = sql`INSERT INTO run_preparations (run_id, fence, kind, data, created_at)
          SELECT id, fence, ${kind}, ${data}, ${at} FROM runs WHERE ${isHeld(sql, hold)} RETURNING run_id`
        yield* changedUnder(hold, Effect.orDie(saved))
      })

      const load = Effect.fnUntraced(function* <A>({ fence, runId }: RunHold, { json, kind }: PreparationSchema<A>) {
        const [row] = yield* Effect.orDie(PreparationRow.some(sql, "data")`SELECT data FROM run_preparations
          WHERE run_id = ${runId} AND fence = ${fence} AND kind = ${kind}`)
        if (row === undefined) return Option.none()
        return yield* Schema.decodeEffect(json)(row.data).pipe(
          Effect.tapError((error) => Effect.logError(`The preparation of the Run ${runId} cannot be read`, error)),
          Effect.option
        )
      })

      return RunPreparations.of({ save, load })
    })
  )
}
