import { Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import { privacyElsewhere, privacyReason, StateVersions } from "../state/StateVersions.ts"
import type { CapsuleStatus, Dependency } from "../../../schema/records/Capsule.ts"
import {
  type CapsuleId,
  type DependencyId,
  OutputShareId,
  type StateVersionId,
  type WorkspaceId
} from "../../../schema/records/Ids.ts"
import { orOnIntegrityFault } from "../../base/vault/IntegrityFault.ts"
import { DependencyOutputsJson, DependencyRow } from "./DependencyRow.ts"
import type { OutputRow } from "../state/StateVersionRow.ts"
import { CapsuleRow } from "../capsule/CapsuleRow.ts"
import { SharedOutput } from "../../../schema/records/OutputShare.ts"
import { rowShape } from "../../base/database/Table.ts"

// Declares only these columns, because the OutputShare model is in a higher layer.
const ActiveShare = rowShape({ id: OutputShareId, outputs: Schema.String })

const decodeShared = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(SharedOutput)))

/** The share that provides an Output, and the name that the producer uses for the Output. */
interface SharedFrom {
  readonly name: string
  readonly shareId: OutputShareId
}

/**
 * Returns the Outputs that a Capsule shares with a Workspace, under the receiver's names. Includes only approved shares that have
 * not been revoked.
 */
export const activeShares = Effect.fn("activeShares")(function* (
  producerCapsuleId: CapsuleId,
  toWorkspaceId: WorkspaceId
) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* ActiveShare.rows(sql)`SELECT s.id, s.outputs FROM output_shares s
    JOIN capsules c ON c.id = s.producer_capsule_id AND c.workspace_id = s.from_workspace_id
    WHERE s.producer_capsule_id = ${producerCapsuleId} AND s.to_workspace_id = ${toWorkspaceId} AND s.status = 'active'
    ORDER BY s.created_at, s.id`
  const shared = new Map<string, SharedFrom>()
  for (const { id, outputs } of rows) {
    for (const { alias, name } of yield* decodeShared(outputs)) shared.set(alias ?? name, { name, shareId: id })
  }
  return shared
}, Effect.orDie)

const decodeOutputs = Schema.decodeUnknownEffect(DependencyOutputsJson)

export interface ProducerRow {
  readonly name: string
  readonly workspace_id: WorkspaceId
  readonly current_state_version_id: StateVersionId | null
  readonly status: CapsuleStatus
  readonly release_reason: string | null
}

/** Explains why an ended Capsule offers nothing, and how to fix it. */
const endOf = ({ release_reason, status }: ProducerRow): string => {
  const why =
    release_reason === "moved_elsewhere"
      ? "It was released: it moved elsewhere."
      : release_reason === "infrastructure_gone"
        ? "It was released: its infrastructure is gone."
        : `It was ${status}.`
  return `${why} Remove the dependency and give the input a value, or take it from another Capsule.`
}

/** A Capsule that consumes Outputs, with the fields that determine its offers. */
export interface Consumer {
  readonly id: CapsuleId
  readonly workspace_id: WorkspaceId
}

/** Values that a dependency offers now: one Output for one input, or all Outputs of the producer for `remote_state`. */
export interface OfferedOutput<Id extends DependencyId | undefined = DependencyId> {
  /** `undefined` if the dependency does not exist yet. */
  readonly dependencyId: Id
  readonly producerCapsuleId: CapsuleId
  /** `undefined` if the producer has ended. */
  readonly producerName: string | undefined
  /**
   * The name that the consumer uses for the Output, and the input that the Output fills. Both are absent for `remote_state`.
   */
  readonly output: string | undefined
  readonly input: string | undefined
  readonly required: boolean
  /** The name that the producer uses for the Output. */
  readonly name: string | undefined
  readonly outputShareId: OutputShareId | undefined
  readonly stateVersionId: StateVersionId | undefined
  readonly given: ReadonlyArray<OutputRow>
  /** The reason why the Output, although it exists, is not offered. */
  readonly withheld: string | undefined
  /** The reason why the producer has ended; `undefined` while it exists. */
  readonly ended: string | undefined
}

/** An existing or requested dependency. */
export interface WantedOutputs<Id extends DependencyId | undefined = DependencyId> {
  readonly dependencyId: Id
  readonly mode: Dependency["mode"]
  readonly producerCapsuleId: CapsuleId
  readonly wanted: Dependency["outputs"]
}

/** The Outputs that a producer has. */
export interface ProducedOutputs {
  /** `undefined` if the Capsule no longer exists. */
  readonly found: ProducerRow | undefined
  /** The Outputs of the current StateVersion. */
  readonly outputs: ReadonlyArray<OutputRow>
  /**
   * The Outputs shared with the consumer's Workspace, keyed by shared name. `undefined` if the producer and the consumer are
   * in the same Workspace.
   */
  readonly shared: ReadonlyMap<string, { readonly shareId: OutputShareId; readonly name: string }> | undefined
}

const standing = (found: ProducerRow | undefined) => (found === undefined || isEnded(found.status) ? undefined : found)

/**
 * Returns the offers of one dependency. Across Workspaces, an offer contains only actively shared Outputs under their shared
 * names, and never a secret. Within a Workspace, a secret may fill an input but is never shown.
 */
export const offersFrom = <Id extends DependencyId | undefined>(
  { dependencyId, mode, producerCapsuleId, wanted }: WantedOutputs<Id>,
  { found, outputs, shared }: ProducedOutputs
): ReadonlyArray<OfferedOutput<Id>> => {
  const producer = standing(found)
  const ended = found === undefined || producer !== undefined ? undefined : endOf(found)
  const stateVersionId = producer?.current_state_version_id ?? undefined
  const of = { dependencyId, producerCapsuleId, producerName: producer?.name, stateVersionId, ended }
  if (mode === "remote_state") {
    const everything = { output: undefined, input: undefined, name: undefined, outputShareId: undefined }
    return [{ ...of, ...everything, required: false, given: outputs, withheld: undefined }]
  }
  const secretToo = mode === "variable_injection" && shared === undefined
  return wanted.map(({ from, required, to }): OfferedOutput<Id> => {
    const share = shared?.get(from)
    const name = shared === undefined ? from : share?.name
    const output = outputs.find((candidate) => candidate.name === name)
    const isGiven = output !== undefined && (secretToo || output.sensitive === 0)
    return {
      ...of,
      output: from,
      input: to,
      required,
      name,
      outputShareId: share?.shareId,
      given: isGiven ? [output] : [],
      withheld:
        output === undefined || isGiven
          ? undefined
          : shared === undefined
            ? privacyReason(output)
            : privacyElsewhere(output, from)
    }
  })
}

/** Returns the offers of an existing or planned dependency. */
export const offersOf = Effect.fn("offersOf")(function* <Id extends DependencyId | undefined>(
  consumer: Pick<Consumer, "workspace_id">,
  dependency: WantedOutputs<Id>
) {
  const sql = yield* SqlClient.SqlClient
  const states = yield* StateVersions
  const [found] = yield* CapsuleRow.some(
    sql,
    "name",
    "workspace_id",
    "current_state_version_id",
    "status",
    "release_reason"
  )`SELECT name, workspace_id, current_state_version_id, status, release_reason
    FROM capsules WHERE id = ${dependency.producerCapsuleId}`
  const producer = standing(found)
  const stateVersionId = producer?.current_state_version_id ?? undefined
  const outputs = stateVersionId === undefined ? [] : yield* states.outputs(stateVersionId)
  const isElsewhere = producer !== undefined && producer.workspace_id !== consumer.workspace_id
  const shared =
    isElsewhere && dependency.mode !== "remote_state"
      ? yield* activeShares(dependency.producerCapsuleId, consumer.workspace_id)
      : undefined
  return offersFrom(dependency, { found, outputs, shared })
})

/** Returns the offers of all dependencies of a Capsule, in order of creation. */
export const offeredOutputs = Effect.fn("offeredOutputs")(function* (consumer: Consumer) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* DependencyRow.rows(sql)`SELECT * FROM dependencies
    WHERE consumer_capsule_id = ${consumer.id} ORDER BY created_at, id`
  const offered: Array<OfferedOutput> = []
  for (const { id: dependencyId, mode, outputs, producer_capsule_id: producerCapsuleId } of rows) {
    const wanted = yield* decodeOutputs(outputs)
    const offers = yield* offersOf(consumer, { dependencyId, mode, producerCapsuleId, wanted })
    offered.push(...offers)
  }
  return offered
}, Effect.orDie)

const sameOutput = Effect.fnUntraced(
  function* (one: OutputRow, other: OutputRow) {
    if (one.id === other.id) return true
    if (one.sensitive !== other.sensitive) return false
    if (one.sensitive === 0) return one.value === other.value
    const states = yield* StateVersions
    const texts = yield* Effect.forEach([one, other], (row) => Effect.map(states.outputText(row), Redacted.value))
    return texts[0] === texts[1]
  },
  orOnIntegrityFault(() => Effect.succeed(false))
)

/**
 * The StateVersion and the Output that a consumer received. If there is no StateVersion, the consumer received nothing; if
 * there is no name, it received all Outputs.
 */
export interface TakenOutput {
  readonly stateVersionId: StateVersionId | undefined
  readonly name: string | undefined
}

/** Returns true if the consumed value equals the current offer. Values that cannot be compared are treated as different. */
export const isOfferedStill = Effect.fn("isOfferedStill")(function* (
  taken: TakenOutput | undefined,
  { given, name, stateVersionId }: OfferedOutput
) {
  const states = yield* StateVersions
  const from = taken?.stateVersionId
  if (from !== undefined && from === stateVersionId && taken?.name === name && given.length > 0) return true
  const outputs = from === undefined ? [] : yield* states.outputs(from)
  const before = outputs.filter((output) => taken?.name === undefined || output.name === taken.name)
  if (before.length !== given.length) return false
  for (const [index, output] of given.entries()) {
    const earlier = before[index]
    const isSameName = name !== undefined || earlier?.name === output.name
    if (earlier === undefined || !isSameName || !(yield* sameOutput(earlier, output))) return false
  }
  return true
})
