import { Context, Effect, Layer, Schema } from "effect"
import { type ApiError, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { type CapsuleId, StateVersionId } from "../../../schema/records/Ids.ts"
import { type StateDifference, StateResource } from "../../../schema/records/StateResource.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { RunRow } from "../run/RunRow.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"
import { type Compared, differenceOf, outputDifferences, resourceDifferences } from "./StateDifferences.ts"
import { OutputVersionRow, ResourceVersionRow, StateIndexRow } from "./StateIndexRow.ts"
import { StateVersionRow } from "./StateVersionRow.ts"

/** Filters for the list of resources. */
export interface ResourceFilter {
  /** Case-sensitive substring of the address. */
  readonly address?: string | undefined
  /** Case-insensitive substring of the address, type or id. */
  readonly search?: string | undefined
}

/** A page of resources, and the StateVersion that contains them. */
export interface ListedResources extends Page<StateResource> {
  /** Absent if the Capsule has no state. */
  readonly stateVersionId: StateVersionId | undefined
  /** False if the state is not indexed; the list is then empty. */
  readonly indexed: boolean
}

const Current = rowShape({
  current_state_version_id: Schema.NullOr(StateVersionId),
  outcome: Schema.NullOr(StateIndexRow.columns.outcome)
})

const Listed = rowShape({
  ...ResourceVersionRow.only("address", "deposed", "type", "provider", "object_id", "tainted", "run_id", "changed_at")
    .columns,
  resolved_commit: RunRow.columns.resolved_commit
})

// Converts only the letters A to Z to lower case, as the database does.
const lowerCase = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

const decodeResource = storedRecord(StateResource)

const toResource = (row: RowOf<typeof Listed.columns>): StateResource =>
  decodeResource({
    address: row.address,
    type: row.type,
    provider: row.provider,
    ...(row.deposed === "" ? {} : { deposed: row.deposed }),
    ...(row.tainted === 1 ? { tainted: true } : {}),
    ...(row.object_id === null ? {} : { id: row.object_id }),
    changedByRunId: row.run_id,
    changedAt: row.changed_at,
    ...(row.resolved_commit === null ? {} : { commit: row.resolved_commit })
  })

/** Reads the contents of StateVersions from the index. Never decrypts a state, so values are not available. */
export class StateResources extends Context.Service<
  StateResources,
  {
    /** Returns the resources of a Capsule's current state, sorted by address. */
    readonly list: (
      capsuleId: CapsuleId,
      filter: ResourceFilter,
      page: PageRequest
    ) => Effect.Effect<ListedResources, ApiError>
    /** Compares a StateVersion with another StateVersion of the same Capsule, by default the previous one. */
    readonly difference: (
      id: StateVersionId,
      from: StateVersionId | undefined,
      page: PageRequest
    ) => Effect.Effect<{ readonly difference: StateDifference; readonly nextCursor?: string | undefined }, ApiError>
  }
>()("svc/actors/ledger/state/StateResources") {
  static readonly layer = Layer.effect(
    StateResources,
    Effect.gen(function* () {
      const sql = yield* ReadSql
      const cursors = yield* Cursors

      const found = (text: string) =>
        ["v.address", "v.type", "v.object_id"].map(
          (column) => sql`REPLACE(LOWER(${sql.literal(column)}), ${text}, '') <> LOWER(${sql.literal(column)})`
        )

      const list = Effect.fn("StateResources.list")(function* (
        capsuleId: CapsuleId,
        { address, search }: ResourceFilter,
        page: PageRequest
      ) {
        const filter = [capsuleId, address, search]
        const binding = { route: "capsules.resources", subject: page.subject ?? "", filter }
        const anchor = page.cursor === undefined ? [] : yield* cursors.decode(binding, page.cursor, 2)
        const [current] = yield* Effect.orDie(Current.rows(sql)`SELECT c.current_state_version_id, i.outcome
          FROM capsules c LEFT JOIN state_indexes i ON i.state_version_id = c.current_state_version_id
          WHERE c.id = ${capsuleId}`)
        if (current === undefined) return yield* notFound("Capsule")
        const stateVersionId = current.current_state_version_id ?? undefined
        const indexed = stateVersionId === undefined || current.outcome === "indexed"
        if (stateVersionId === undefined || !indexed) return { items: [], stateVersionId, indexed }
        const conditions = [
          sql`v.capsule_id = ${capsuleId} AND v.valid_to IS NULL`,
          // Uses REPLACE, because it matches literally and case-sensitively; LIKE is neither literal nor case-sensitive.
          ...(address === undefined ? [] : [sql`REPLACE(v.address, ${address}, '') <> v.address`]),
          ...(search === undefined ? [] : [sql.or(found(lowerCase(search)))]),
          ...(anchor.length === 0 ? [] : [sql`(v.address, v.deposed) > (${anchor[0]}, ${anchor[1]})`])
        ]
        const rows = yield* Effect.orDie(Listed.rows(
          sql
        )`SELECT v.address, v.deposed, v.type, v.provider, v.object_id, v.tainted, v.run_id, v.changed_at,
            r.resolved_commit
          FROM resource_versions v LEFT JOIN runs r ON r.id = v.run_id
          WHERE ${sql.and(conditions)} ORDER BY v.address, v.deposed LIMIT ${page.limit + 1}`)
        const shown = rows.slice(0, page.limit)
        const last = shown.at(-1)
        const items = shown.map(toResource)
        if (rows.length <= page.limit || last === undefined) return { items, stateVersionId, indexed }
        return {
          items,
          stateVersionId,
          indexed,
          nextCursor: yield* cursors.encode(binding, [last.address, last.deposed])
        }
      })

      const find = Effect.fnUntraced(function* (id: StateVersionId) {
        const rows = yield* StateVersionRow.some(sql, "id", "capsule_id", "generation")`
          SELECT id, capsule_id, generation FROM state_versions WHERE id = ${id}`
        return rows[0]
      }, Effect.orDie)

      const previous = Effect.fnUntraced(function* (capsuleId: CapsuleId, generation: number) {
        const rows = yield* StateVersionRow.some(sql, "id", "capsule_id", "generation")`
          SELECT id, capsule_id, generation FROM state_versions
          WHERE capsule_id = ${capsuleId} AND generation < ${generation} ORDER BY generation DESC LIMIT 1`
        return rows[0]
      }, Effect.orDie)

      const isRead = Effect.fnUntraced(function* (id: StateVersionId) {
        const rows = yield* StateIndexRow.some(sql, "outcome")`SELECT outcome FROM state_indexes
          WHERE state_version_id = ${id}`
        return rows[0]?.outcome === "indexed"
      }, Effect.orDie)

      /** Returns the rows that are valid at only one of the two generations, grouped by generation. */
      const resourcesBetween = Effect.fnUntraced(function* (capsuleId: CapsuleId, earlier: number, later: number) {
        const rows = ResourceVersionRow.rows(sql)
        const ended = yield* rows`SELECT * FROM resource_versions WHERE capsule_id = ${capsuleId}
          AND valid_to > ${earlier} AND valid_to <= ${later} AND valid_from <= ${earlier}`
        const begun = yield* rows`SELECT * FROM resource_versions WHERE capsule_id = ${capsuleId}
          AND valid_from > ${earlier} AND valid_from <= ${later} AND (valid_to IS NULL OR valid_to > ${later})`
        return { ended, begun }
      }, Effect.orDie)

      const outputsBetween = Effect.fnUntraced(function* (capsuleId: CapsuleId, earlier: number, later: number) {
        const rows = OutputVersionRow.rows(sql)
        const ended = yield* rows`SELECT * FROM output_versions WHERE capsule_id = ${capsuleId}
          AND valid_to > ${earlier} AND valid_to <= ${later} AND valid_from <= ${earlier}`
        const begun = yield* rows`SELECT * FROM output_versions WHERE capsule_id = ${capsuleId}
          AND valid_from > ${earlier} AND valid_from <= ${later} AND (valid_to IS NULL OR valid_to > ${later})`
        return { ended, begun }
      }, Effect.orDie)

      const difference = Effect.fn("StateResources.difference")(function* (
        id: StateVersionId,
        from: StateVersionId | undefined,
        page: PageRequest
      ) {
        const binding = { route: "stateVersions.difference", subject: page.subject ?? "", filter: [id, from] }
        const anchor = page.cursor === undefined ? undefined : yield* cursors.decode(binding, page.cursor, 1)
        const to = yield* find(id)
        if (to === undefined) return yield* notFound("StateVersion")
        const base = yield* from === undefined ? previous(to.capsule_id, to.generation) : find(from)
        // Responds as if the StateVersion did not exist, because the caller must not learn about another Capsule's StateVersions.
        if (from !== undefined && base?.capsule_id !== to.capsule_id) {
          return yield* invalidRequest("from: this is not a StateVersion of the same Capsule.")
        }
        const ends = base === undefined ? { to: id } : { from: base.id, to: id }
        const indexed = (yield* isRead(id)) && (base === undefined || (yield* isRead(base.id)))
        if (!indexed) return { difference: { ...ends, indexed, resources: [], outputs: [] } }
        const generations: Compared = { from: base?.generation ?? 0, to: to.generation }
        const earlier = Math.min(generations.from, generations.to)
        const later = Math.max(generations.from, generations.to)
        const resources = resourceDifferences(
          differenceOf(generations, yield* resourcesBetween(to.capsule_id, earlier, later))
        )
        const outputs = outputDifferences(
          differenceOf(generations, yield* outputsBetween(to.capsule_id, earlier, later))
        )
        const [after = ""] = anchor ?? []
        const left = resources.filter(({ name }) => name > after)
        const shown = left.slice(0, page.limit)
        const last = shown.at(-1)
        const answer = { ...ends, indexed, resources: shown.map(({ difference: one }) => one), outputs }
        if (left.length <= page.limit || last === undefined) return { difference: answer }
        return { difference: answer, nextCursor: yield* cursors.encode(binding, [last.name]) }
      })

      return StateResources.of({ list, difference })
    })
  )
}
