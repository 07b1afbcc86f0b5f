import { Context, Duration, Effect, Layer, Schema } from "effect"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import type { Timestamp } from "../../../schema/records/Primitives.ts"
import type { StoredKind } from "../../../schema/records/StoredKind.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { rowShape } from "../../base/database/Table.ts"
import { now } from "../../base/Identity.ts"
import { makeCooldown } from "../../base/Cooldown.ts"
import { type StoredPlace, storedPlaces } from "./StoredPlaces.ts"

/** Number of rows that one statement reads. The number is small enough not to delay other reads. */
const rowsAtOnce = 500
const pause = "5 millis"
/** Interval between measurements. A measurement reads all data, and the sizes change little within an hour. */
const cooldown = Duration.toMillis("1 hour")

const Sized = rowShape({
  workspace_id: Schema.NullOr(WorkspaceId),
  bytes: Schema.Int,
  first_key: Schema.String,
  second_key: Schema.Int
})

/** The number of bytes of one kind of data that belong to one Workspace, or to the installation itself. */
export interface StoredAmount {
  readonly workspaceId: WorkspaceId | null
  readonly kind: StoredKind
  readonly bytes: number
}

/** The measured sizes and the time of the measurement. */
export interface StoredMeasurement {
  readonly at: Timestamp
  readonly amounts: ReadonlyArray<StoredAmount>
}

/** Measures the size of the database and the archives for each Workspace and kind, a few rows at a time. */
export class StoredBytes extends Context.Service<
  StoredBytes,
  {
    /** Returns the newest measurement, or `undefined` until the first measurement has finished. */
    readonly measured: Effect.Effect<StoredMeasurement | undefined>
    /** Counts now. */
    readonly measure: Effect.Effect<StoredMeasurement>
    /** Measures again if the last measurement is an hour old. Called by the background cleanup. */
    readonly measureSometimes: Effect.Effect<void>
  }
>()("svc/actors/upkeep/retention/StoredBytes") {
  static readonly layer = Layer.effect(
    StoredBytes,
    Effect.gen(function* () {
      const read = yield* ReadSql
      let newest: StoredMeasurement | undefined
      const afterCooldown = makeCooldown(cooldown)

      /** Reads the next rows in key order. */
      const part = (place: StoredPlace, after: readonly [string, number] | undefined) => {
        const { bytes, firstKey, secondKey, table, workspace } = place
        const key = read.literal([firstKey, ...(secondKey === undefined ? [] : [secondKey])].join(", "))
        const [first, second] = after ?? ["", 0]
        const behind = secondKey === undefined ? read`(${first})` : read`(${first}, ${second})`
        return Sized.rows(read)`SELECT ${read.literal(workspace)} AS workspace_id, ${read.literal(bytes)} AS bytes,
            ${read.literal(firstKey)} AS first_key, ${read.literal(secondKey ?? "0")} AS second_key
          FROM ${read(table)} r WHERE (${key}) > ${behind} ORDER BY ${key} LIMIT ${rowsAtOnce}`
      }

      const measurePlace = Effect.fnUntraced(function* (place: StoredPlace, sums: Map<string, StoredAmount>) {
        for (let after: readonly [string, number] | undefined, isOver = false; !isOver; ) {
          const rows = yield* Effect.orDie(part(place, after))
          for (const { bytes, workspace_id } of rows) {
            const key = `${place.kind} ${workspace_id ?? ""}`
            const sum = sums.get(key)?.bytes ?? 0
            sums.set(key, { kind: place.kind, workspaceId: workspace_id, bytes: sum + bytes })
          }
          const last = rows.at(-1)
          isOver = rows.length < rowsAtOnce || last === undefined
          if (last !== undefined) after = [last.first_key, last.second_key]
          yield* Effect.sleep(pause)
        }
      })

      const measure = Effect.gen(function* () {
        const sums = new Map<string, StoredAmount>()
        for (const place of storedPlaces) yield* measurePlace(place, sums)
        newest = { at: yield* now, amounts: [...sums.values()] }
        return newest
      }).pipe(Effect.withSpan("StoredBytes.measure"))

      return StoredBytes.of({
        measured: Effect.sync(() => newest),
        measure,
        measureSometimes: afterCooldown(Effect.as(measure, true))
      })
    })
  )
}
