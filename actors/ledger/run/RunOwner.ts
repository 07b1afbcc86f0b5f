import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type RowOf, rowShape } from "../../base/database/Table.ts"

const Incarnation = rowShape({ installation_id: Schema.String, incarnation: Schema.Int })
type Incarnation = RowOf<typeof Incarnation.columns>

const nameOf = ({ incarnation, installation_id }: Incarnation): string => `${installation_id}#${incarnation}`

/** Returns the incarnation in an owner's name, if the owner was a process of this installation. */
const incarnationOf = (owner: string, { installation_id }: Incarnation): Option.Option<number> => {
  const [installation, number, ...more] = owner.split("#")
  return installation === installation_id && number !== undefined && /^\d+$/.test(number) && more.length === 0
    ? Option.some(Number(number))
    : Option.none()
}

/**
 * The owner name under which this process executes Runs. Each startup is a new incarnation. Only one process at a time uses the
 * data folder, so Runs of earlier incarnations have lost their owner.
 */
export class RunOwner extends Context.Service<
  RunOwner,
  {
    readonly name: string
    /** Returns true if the owner was an earlier process of this installation. */
    readonly isEarlier: (owner: string) => boolean
  }
>()("svc/actors/ledger/run/RunOwner") {
  static readonly layer = Layer.effect(
    RunOwner,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [own] = yield* Effect.orDie(Incarnation.rows(sql)`UPDATE installation SET incarnation = incarnation + 1
        RETURNING installation_id, incarnation`)
      if (own === undefined)
        return yield* Effect.die(new Error("The database does not say which installation it is of."))
      return RunOwner.of({
        name: nameOf(own),
        isEarlier: (owner) => Option.exists(incarnationOf(owner, own), (number) => number < own.incarnation)
      })
    })
  )
}
