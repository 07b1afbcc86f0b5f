import { createSecretKey } from "node:crypto"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type ObjectContents, readLongParts, stateContents } from "../../../runner/execution/StateContents.ts"
import type { ManagedObject, StateFile } from "../../../runner/execution/StateFile.ts"
import { derivedSecrets } from "../../../runner/execution/RunSession.ts"
import { shownKeysIn } from "../../../runner/redaction/InstanceKeys.ts"
import { Redaction } from "../../../runner/redaction/Redaction.ts"
import type { SecretText } from "../../../runner/redaction/SecretText.ts"
import type { CapsuleId, RunId, StateUploadId, StateVersionId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { inParts, valuesOf } from "../../base/database/RowParts.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { PlanDetailsJson, RunRow } from "../run/RunRow.ts"
import {
  type IndexedObjects,
  type IndexKeys,
  instanceName,
  keyOfObject,
  objectDigests,
  type ResourceEntry,
  type StateEntries,
  stateEntries
} from "./StateEntries.ts"
import { makeSecretTexts, shownAddresses } from "./ShownAddresses.ts"
import { AttributesJson, originOf, OutputVersionRow, ResourceVersionRow, StateIndexRow } from "./StateIndexRow.ts"

/** A StateVersion to index. */
export interface IndexedState {
  readonly id: StateVersionId
  readonly workspaceId: WorkspaceId
  readonly capsuleId: CapsuleId
  readonly generation: number
  readonly runId: RunId
  readonly createdAt: string
  /** `undefined` if it cannot be decrypted. */
  readonly state: Redacted.Redacted<Uint8Array> | undefined
  /** The secret inputs that the state may contain; `undefined` if unknown. */
  readonly secrets: ReadonlyArray<SecretText> | undefined
}

const asKey = (mac: string) => createSecretKey(mac, "utf8")

const contentsPurpose = "state-index.contents"
const objectsPurpose = "state-index.objects"
const addressesPurpose = "capsule.addresses"
const uploadPurpose = "state-upload.addresses"

const Earlier = rowShape({ generation: Schema.Int, is_read: Schema.Literals([0, 1]) })

/** Changes whenever a Capsule's index entries change. */
const Revision = rowShape({ newest: Schema.Int, unchecked: Schema.Int })
type Revision = RowOf<typeof Revision.columns>

/** The fields of a StateVersion that are available before its transaction. */
export type PreparedIndex = Omit<IndexedState, "id" | "createdAt">

/** The entries of a state, with the index rows that they replace. */
interface ReadEntries {
  readonly present: ReadonlyArray<
    Pick<
      RowOf<typeof ResourceVersionRow.columns>,
      "address" | "deposed" | "provider" | "object_id" | "digest" | "origin"
    >
  >
  readonly entries: Option.Option<StateEntries>
}

interface ReadAhead {
  readonly version: PreparedIndex
  readonly revision: Revision
  readonly read: ReadEntries
}

const haveSameSecrets = (one: PreparedIndex, other: PreparedIndex): boolean =>
  one.secrets === other.secrets ||
  (one.secrets !== undefined &&
    one.secrets.length === other.secrets?.length &&
    one.secrets.every(({ value }, index) => {
      const given = other.secrets?.[index]
      return given !== undefined && Redacted.value(given.value) === Redacted.value(value)
    }))

/** Returns true if the transaction would read the same entries. */
const isCurrent = (prepared: ReadAhead, version: PreparedIndex, { newest, unchecked }: Revision): boolean =>
  prepared.revision.newest === newest &&
  prepared.revision.unchecked === unchecked &&
  prepared.version.capsuleId === version.capsuleId &&
  prepared.version.generation === version.generation &&
  prepared.version.runId === version.runId &&
  haveSameSecrets(prepared.version, version)

/**
 * The only writer of the index of StateVersion contents. An object that does not change keeps one row across StateVersions, so
 * the index grows only when something changes.
 */
export class StateIndex extends Context.Service<
  StateIndex,
  {
    /**
     * Performs the slow parts of `add` before its transaction: reading the state, and computing its digests. `add` uses the result
     * if the index has not changed since. Without this preparation, a state with a long attribute causes a defect, and all keys
     * of a state with many secrets are hidden.
     */
    readonly prepare: (version: PreparedIndex) => Effect.Effect<void>
    /** Performs the slow parts of `check` before its transaction. */
    readonly prepareCheck: (
      newest: Pick<IndexedState, "capsuleId" | "runId" | "secrets" | "state">
    ) => Effect.Effect<void>
    /**
     * Indexes a StateVersion in the caller's transaction. If an earlier StateVersion of the Capsule has not been indexed
     * yet, does nothing; both are indexed later, in order.
     */
    readonly add: (version: IndexedState) => Effect.Effect<void>
    /**
     * Hides secret instance keys that an earlier release stored for a Capsule, in the caller's transaction. `newest` is the
     * newest indexed StateVersion, with the secrets of all StateVersions.
     */
    readonly check: (newest: IndexedState) => Effect.Effect<void>
    /** Returns the displayed addresses of an uploaded state that does not belong to a Capsule yet. */
    readonly shownIn: (
      uploadId: StateUploadId,
      state: Pick<StateFile, "managed" | "sensitiveTexts">,
      secrets: ReadonlyArray<SecretText>
    ) => Effect.Effect<(address: string) => string>
    /** Returns the Capsule's key for the digests that replace secret instance keys. */
    readonly addressKey: (capsuleId: CapsuleId) => Effect.Effect<Redacted.Redacted>
    /**
     * Returns a function that computes the index key of a real object in the Workspace. The function returns `null` if the
     * resource is not a real object.
     */
    readonly keyOf: (workspaceId: WorkspaceId) => Effect.Effect<(object: ManagedObject) => string | null>
  }
>()("svc/actors/ledger/state/StateIndex") {
  static readonly layer = Layer.effect(
    StateIndex,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const secretTexts = makeSecretTexts(yield* Redaction)

      const keysOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId, capsuleId: CapsuleId) {
        return {
          contents: asKey(yield* vault.mac(contentsPurpose, capsuleId)),
          objects: asKey(yield* vault.mac(objectsPurpose, workspaceId))
        } satisfies IndexKeys
      })

      const revisionOf = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
        const [revision] = yield* Revision.rows(sql)`SELECT COALESCE(MAX(generation), 0) AS newest,
            COALESCE(SUM(CASE WHEN outcome = 'unchecked' THEN 1 ELSE 0 END), 0) AS unchecked
          FROM state_indexes WHERE capsule_id = ${capsuleId}`
        return revision ?? { newest: 0, unchecked: 0 }
      })

      /** Returns true if the StateVersion before this one is indexed, or if there is none. */
      const isNext = Effect.fnUntraced(function* ({ capsuleId, generation }: IndexedState) {
        const [earlier] = yield* Earlier.rows(sql)`SELECT v.generation,
            CASE WHEN i.generation IS NULL OR i.outcome = 'unchecked' THEN 0 ELSE 1 END AS is_read
          FROM state_versions v LEFT JOIN state_indexes i ON i.state_version_id = v.id
          WHERE v.capsule_id = ${capsuleId} AND v.generation < ${generation} ORDER BY v.generation DESC LIMIT 1`
        return earlier === undefined || earlier.is_read === 1
      })

      const presentOf = (capsuleId: CapsuleId) =>
        ResourceVersionRow.some(sql, "address", "deposed", "provider", "object_id", "digest", "origin")`
          SELECT address, deposed, provider, object_id, digest, origin FROM resource_versions
          WHERE capsule_id = ${capsuleId} AND valid_to IS NULL`

      /** Returns the stored details of the Run's plan, or `{}` if the Run has no plan. */
      const planOf = Effect.fnUntraced(function* (runId: RunId) {
        const [plan] = yield* RunRow.some(sql, "plan_details")`SELECT p.plan_details FROM runs r
          JOIN runs p ON p.id = r.plan_run_id WHERE r.id = ${runId}`
        return plan?.plan_details ?? "{}"
      })

      /** Maps the new address of each moved object in the plan to the object's earlier address. */
      const movesOf = (plan: string) => {
        const changes = PlanDetailsJson.read(plan).resourceChanges ?? []
        return new Map(
          changes.flatMap(({ address, previousAddress }) =>
            previousAddress === undefined ? [] : [[address, previousAddress] as const]
          )
        )
      }

      /** Returns a function that converts addresses from the index and from the new state to the form that is displayed. */
      const shownOf = Effect.fnUntraced(function* (
        { capsuleId, secrets, state }: Pick<IndexedState, "capsuleId" | "secrets" | "state">,
        plan: string
      ) {
        const stored = yield* ResourceVersionRow.some(sql, "address", "origin")`SELECT DISTINCT address, origin
          FROM resource_versions WHERE capsule_id = ${capsuleId} AND (address LIKE '%["%' OR origin LIKE '%["%')`
        const before = new Set(
          stored.flatMap(({ address, origin }) => (origin === null ? [address] : [address, origin]))
        )
        const found = new Set<string>()
        const contents =
          state === undefined
            ? Option.none()
            : yield* stateContents(Redacted.value(state), ({ address }) => {
                if (shownKeysIn(address).length > 0) found.add(address)
              })
        const marked = Option.isSome(contents) ? derivedSecrets("state", contents.value.sensitiveTexts) : []
        const addressKey = yield* vault.mac(addressesPurpose, capsuleId)
        const shown = yield* shownAddresses(secretTexts, [...before, ...found], {
          addressKey,
          secrets: secrets === undefined ? undefined : [...secrets, ...marked],
          hiddenIn: [...before, plan]
        })
        return { shown, renamed: [...before].filter((address) => shown(address) !== address) }
      })

      /** Recomputes the digests of objects with new origins, so that equal values still produce equal digests. */
      const rekey = Effect.fnUntraced(function* (
        capsuleId: CapsuleId,
        keys: IndexKeys,
        objects: ReadonlyArray<{ readonly object: ObjectContents; readonly from: string; readonly to: string }>
      ) {
        const stored = yield* ResourceVersionRow.rows(
          sql
        )`SELECT * FROM resource_versions WHERE capsule_id = ${capsuleId}`
        const byOrigin = Map.groupBy(stored, (row) => instanceName({ address: originOf(row), deposed: row.deposed }))
        const rekeyed: Array<readonly [string, string, number, string, string]> = []
        for (const { from, object, to } of objects) {
          const earlier = objectDigests(keys, object, from)
          const later = objectDigests(keys, object, to)
          const newAttributes = later.attributes()
          const changed = new Map([
            [earlier.object, later.object],
            ...Object.entries(earlier.attributes()).map(
              ([name, digest]) => [digest, newAttributes[name] ?? digest] as const
            )
          ])
          const rows = byOrigin.get(instanceName({ address: to, deposed: object.deposed })) ?? []
          for (const { address, attributes, deposed, digest, valid_from } of rows) {
            const digests = Object.entries(AttributesJson.read(attributes)).map(([name, one]) => [
              name,
              changed.get(one) ?? one
            ])
            const text = AttributesJson.write(Object.fromEntries(digests))
            rekeyed.push([address, deposed, valid_from, changed.get(digest) ?? digest, text])
          }
        }
        yield* inParts(
          rekeyed,
          (some) => sql`UPDATE resource_versions SET digest = given.column4, attributes = given.column5
            FROM (${valuesOf(sql, some)}) AS given
            WHERE capsule_id = ${capsuleId} AND address = given.column1 AND deposed = given.column2
              AND valid_from = CAST(given.column3 AS INTEGER)`
        )
      })

      /** Hides keys that turned out to be secrets, in every row of the Capsule. */
      const hide = Effect.fnUntraced(function* (
        { capsuleId, state }: IndexedState,
        keys: IndexKeys,
        { renamed, shown }: Effect.Success<ReturnType<typeof shownOf>>
      ) {
        if (renamed.length === 0) return
        const origins = new Map((yield* presentOf(capsuleId)).map((row) => [instanceName(row), originOf(row)]))
        const hidden = renamed.map((address) => [address, shown(address)] as const)
        yield* inParts(
          hidden,
          (some) => sql`UPDATE resource_versions SET address = given.column2
            FROM (${valuesOf(sql, some)}) AS given WHERE capsule_id = ${capsuleId} AND address = given.column1`
        )
        yield* inParts(
          hidden,
          (some) => sql`UPDATE resource_versions SET origin = given.column2
            FROM (${valuesOf(sql, some)}) AS given WHERE capsule_id = ${capsuleId} AND origin = given.column1`
        )
        if (state === undefined) return
        const objects: Array<{ readonly object: ObjectContents; readonly from: string; readonly to: string }> = []
        yield* stateContents(Redacted.value(state), (object) => {
          const from = origins.get(instanceName(object))
          if (from !== undefined && shown(from) !== from) objects.push({ object, from, to: shown(from) })
        })
        if (objects.length > 0) yield* rekey(capsuleId, keys, objects)
      })

      /**
       * Returns a function that assigns names to new objects. Each name is unique, even if an object has moved away from the
       * address.
       */
      const newOrigins = Effect.fnUntraced(function* (
        { capsuleId, generation }: PreparedIndex,
        moving: Iterable<string>
      ) {
        const moved = yield* ResourceVersionRow.some(sql, "origin")`SELECT DISTINCT origin FROM resource_versions
          WHERE capsule_id = ${capsuleId} AND origin IS NOT NULL`
        const taken = new Set<string | null>([...moved.map(({ origin }) => origin), ...moving])
        return (address: string) => (taken.has(address) ? `${address} @${generation}` : address)
      })

      const replaceResources = Effect.fnUntraced(function* (
        version: IndexedState,
        present: Effect.Success<ReturnType<typeof presentOf>>,
        entries: ReadonlyMap<string, ResourceEntry>
      ) {
        const { capsuleId, generation, runId } = version
        const same = new Set<string>()
        const secretIds: Array<string> = []
        const ended: Array<readonly [address: string, deposed: string]> = []
        for (const row of present) {
          const name = instanceName(row)
          const entry = entries.get(name)
          if (entry !== undefined && entry.objectId === null && row.object_id !== null) secretIds.push(row.address)
          if (entry?.digest === row.digest && entry.provider === row.provider && entry.origin === originOf(row)) {
            same.add(name)
          } else ended.push([row.address, row.deposed])
        }
        // Removes ids that turned out to be secrets.
        yield* inParts(
          secretIds,
          (some) => sql`UPDATE resource_versions SET ${ResourceVersionRow.changes(sql, { object_id: null })}
            WHERE capsule_id = ${capsuleId} AND ${sql.in("address", some)}`
        )
        const end = ResourceVersionRow.changes(sql, { valid_to: generation, ended_by_run_id: runId })
        // Most objects are not deposed. PostgreSQL looks up a list of single values by hashing, but compares pairs one by one.
        const current = ended.filter(([, deposed]) => deposed === "").map(([address]) => address)
        const deposed = ended.filter(([, key]) => key !== "")
        yield* inParts(
          current,
          (some) => sql`UPDATE resource_versions SET ${end}
            WHERE capsule_id = ${capsuleId} AND valid_to IS NULL AND deposed = '' AND ${sql.in("address", some)}`
        )
        yield* inParts(
          deposed,
          (some) => sql`UPDATE resource_versions SET ${end}
            WHERE capsule_id = ${capsuleId} AND valid_to IS NULL AND (address, deposed) IN (${valuesOf(sql, some)})`
        )
        const added = [...entries].flatMap(([name, entry]) =>
          same.has(name)
            ? []
            : [
                {
                  workspace_id: version.workspaceId,
                  capsule_id: capsuleId,
                  address: entry.address,
                  deposed: entry.deposed,
                  type: entry.type,
                  provider: entry.provider,
                  object_id: entry.objectId,
                  object_key: entry.objectKey,
                  attributes: AttributesJson.write(entry.attributes ?? {}),
                  origin: entry.origin === entry.address ? null : entry.origin,
                  tainted: entry.tainted ? (1 as const) : (0 as const),
                  digest: entry.digest,
                  valid_from: generation,
                  run_id: runId,
                  changed_at: version.createdAt
                }
              ]
        )
        yield* inParts(added, (some) => sql`INSERT INTO resource_versions ${ResourceVersionRow.several(sql, some)}`)
      })

      const replaceOutputs = Effect.fnUntraced(function* (version: IndexedState, digests: ReadonlyMap<string, string>) {
        const { capsuleId, generation, runId } = version
        const present = yield* OutputVersionRow.rows(sql)`SELECT * FROM output_versions
          WHERE capsule_id = ${capsuleId} AND valid_to IS NULL`
        const same = new Set<string>()
        const ended: Array<string> = []
        for (const { digest, name } of present) {
          if (digests.get(name) === digest) same.add(name)
          else ended.push(name)
        }
        yield* inParts(
          ended,
          (some) => sql`UPDATE output_versions
            SET ${OutputVersionRow.changes(sql, { valid_to: generation, ended_by_run_id: runId })}
            WHERE capsule_id = ${capsuleId} AND valid_to IS NULL AND ${sql.in("name", some)}`
        )
        const added = [...digests].flatMap(([name, digest]) =>
          same.has(name)
            ? []
            : [
                {
                  workspace_id: version.workspaceId,
                  capsule_id: capsuleId,
                  name,
                  digest,
                  valid_from: generation,
                  run_id: runId,
                  changed_at: version.createdAt
                }
              ]
        )
        yield* inParts(added, (some) => sql`INSERT INTO output_versions ${OutputVersionRow.several(sql, some)}`)
      })

      /** Reads a state into entries, against the current entries of the index. */
      const readEntries = Effect.fn("StateIndex.readEntries")(function* (
        version: PreparedIndex,
        keys: IndexKeys,
        plan: string,
        shown: (address: string) => string
      ) {
        const { capsuleId, secrets, state } = version
        const present = yield* presentOf(capsuleId)
        const rows = new Map(present.map((row) => [instanceName(row), row]))
        const moves = movesOf(plan)
        const left = new Set(moves.values())
        const moving = [...left].flatMap((address) => {
          const row = rows.get(address)
          return row === undefined ? [] : [originOf(row)]
        })
        const newOrigin = yield* newOrigins(version, moving)
        const indexed: IndexedObjects = {
          shown,
          isIndexed: (entry) => {
            const row = rows.get(instanceName(entry))
            return row?.digest === entry.digest && row.provider === entry.provider && originOf(row) === entry.origin
          },
          originOf: ({ address, deposed }) => {
            const before = moves.get(address)
            const moved = before === undefined ? undefined : rows.get(instanceName({ address: before, deposed }))
            // An object that moved away keeps its name.
            const row = moved ?? (left.has(address) ? undefined : rows.get(instanceName({ address, deposed })))
            return row === undefined ? newOrigin(address) : originOf(row)
          }
        }
        const entries =
          state === undefined ? Option.none() : yield* stateEntries(keys, Redacted.value(state), secrets, indexed)
        return { present, entries }
      })

      /** Entries that were read before the transaction. Each lasts while its state is in memory. */
      const ahead = new WeakMap<Uint8Array, ReadAhead>()

      const readLong = Effect.fnUntraced(function* ({ state }: Pick<IndexedState, "state">) {
        if (state !== undefined) yield* readLongParts(Redacted.value(state))
      })

      const prepare = Effect.fn("StateIndex.prepare")(function* (version: PreparedIndex) {
        const { capsuleId, runId, state, workspaceId } = version
        yield* readLong(version)
        const revision = yield* revisionOf(capsuleId)
        const plan = yield* planOf(runId)
        const { renamed, shown } = yield* shownOf(version, plan)
        // Keys that turned out to be secrets change the index first, so the transaction reads everything again.
        if (state === undefined || renamed.length > 0) return
        const read = yield* readEntries(version, yield* keysOf(workspaceId, capsuleId), plan, shown)
        ahead.set(Redacted.value(state), { version, revision, read })
      }, Effect.orDie)

      const prepareCheck = Effect.fn("StateIndex.prepareCheck")(function* (
        newest: Pick<IndexedState, "capsuleId" | "runId" | "secrets" | "state">
      ) {
        yield* readLong(newest)
        yield* shownOf(newest, yield* planOf(newest.runId))
      }, Effect.orDie)

      const readNow = Effect.fnUntraced(function* (version: IndexedState) {
        const keys = yield* keysOf(version.workspaceId, version.capsuleId)
        const plan = yield* planOf(version.runId)
        const addresses = yield* shownOf(version, plan)
        yield* hide(version, keys, addresses)
        return yield* readEntries(version, keys, plan, addresses.shown)
      })

      const add = Effect.fn("StateIndex.add")(function* (version: IndexedState) {
        const { capsuleId, generation, id, state } = version
        const revision = yield* revisionOf(capsuleId)
        if (revision.newest >= generation || !(yield* isNext(version))) return
        const prepared = state === undefined ? undefined : ahead.get(Redacted.value(state))
        const { entries, present } =
          prepared !== undefined && isCurrent(prepared, version, revision) ? prepared.read : yield* readNow(version)
        if (Option.isSome(entries)) {
          yield* replaceResources(version, present, entries.value.resources)
          yield* replaceOutputs(version, entries.value.outputs)
        }
        const outcome = Option.isSome(entries) ? "indexed" : "unreadable"
        yield* sql`INSERT INTO state_indexes ${StateIndexRow.values(sql, {
          state_version_id: id,
          capsule_id: capsuleId,
          generation,
          outcome
        })}`
      }, Effect.orDie)

      const check = Effect.fn("StateIndex.check")(function* (newest: IndexedState) {
        const { capsuleId, runId, workspaceId } = newest
        const addresses = yield* shownOf(newest, yield* planOf(runId))
        yield* hide(newest, yield* keysOf(workspaceId, capsuleId), addresses)
        yield* sql`UPDATE state_indexes SET ${StateIndexRow.changes(sql, { outcome: "indexed" })}
          WHERE capsule_id = ${capsuleId} AND outcome = 'unchecked'`
      }, Effect.orDie)

      const shownIn = Effect.fnUntraced(function* (
        uploadId: StateUploadId,
        { managed = [], sensitiveTexts }: Pick<StateFile, "managed" | "sensitiveTexts">,
        secrets: ReadonlyArray<SecretText>
      ) {
        return yield* shownAddresses(
          secretTexts,
          managed.map(({ address }) => address),
          {
            addressKey: yield* vault.mac(uploadPurpose, uploadId),
            secrets: [...secrets, ...derivedSecrets("state", sensitiveTexts)],
            hiddenIn: []
          }
        )
      })

      const addressKey = (capsuleId: CapsuleId) =>
        Effect.map(vault.mac(addressesPurpose, capsuleId), (key) => Redacted.make(key))

      const keyOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
        const objects = asKey(yield* vault.mac(objectsPurpose, workspaceId))
        return (object: ManagedObject) => keyOfObject({ objects }, object)
      })

      return StateIndex.of({ prepare, prepareCheck, add, check, shownIn, addressKey, keyOf })
    })
  ).pipe(Layer.provide(Redaction.layer))
}
