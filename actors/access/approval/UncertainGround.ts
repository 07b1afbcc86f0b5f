import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CapsuleId, RunId } from "../../../schema/records/Ids.ts"
import type { RunDiagnostic } from "../../../schema/records/Run.ts"
import type { UncertainCode } from "../../../schema/records/UncertainGround.ts"
import { acceptsDrift, EvidenceJson, RunRow } from "../../ledger/run/RunRow.ts"
import { OrphanedStateRow } from "../../ledger/state/OrphanedStates.ts"
import { StateVersionRow } from "../../ledger/state/StateVersionRow.ts"

/** The reasons why svc cannot be sure which objects a Capsule has. */
export interface Ground {
  readonly code: UncertainCode
  /** Identifies the reason, so that an acknowledgement does not cover later reasons. */
  readonly key: string
  readonly summary: string
  readonly detail: string
}

const mostAddresses = 5

const listed = (addresses: ReadonlyArray<string>): string =>
  addresses.length <= mostAddresses
    ? addresses.join(", ")
    : `${addresses.slice(0, mostAddresses).join(", ")} and ${addresses.length - mostAddresses} more`

const orphanedStateGround = ({ id, reason, run_id }: Pick<OrphanedStateRow, "id" | "reason" | "run_id">): Ground => {
  const code = reason === "handed_in" ? "handed_in_state" : "left_over_state"
  return {
    code,
    key: `${code}:${id}`,
    summary:
      code === "handed_in_state"
        ? "An agent handed in a state of this Capsule that this plan does not contain."
        : "An earlier apply left a state behind that this plan does not contain.",
    detail: `The Run ${run_id} left the state ${id}. Objects in it may exist, and applying this plan may create them a second time. Look at the state on the page of the Capsule, adopt or discard it there (or by \`POST\` or \`DELETE /api/v1/capsules/{capsuleId}/left-over-states/${id}\`), and plan again.`
  }
}

const possiblyCreatedGround = (runId: RunId, addresses: ReadonlyArray<string>): Ground => ({
  code: "possibly_created",
  key: `possibly_created:${runId}`,
  summary: "An apply that did not finish may have created objects that this plan does not know.",
  detail: `The Run ${runId} started and did not finish: ${listed(addresses)}. Look for them at the provider. Adopt the state that the apply left behind if there is one, or import or remove what exists, and plan again.`
})

/**
 * Returns the reasons why it is currently uncertain which objects a Capsule has. A reason no longer applies once a person
 * has adopted or discarded the left-over state. If the reason is possibly created objects, it also no longer applies once a
 * later apply has succeeded.
 */
export const uncertainGround = Effect.fn("uncertainGround")(function* (capsuleId: CapsuleId | null) {
  const sql = yield* SqlClient.SqlClient
  if (capsuleId === null) return []
  const leftOvers = yield* OrphanedStateRow.some(sql, "id", "reason", "run_id")`SELECT id, reason, run_id
    FROM left_over_states WHERE capsule_id = ${capsuleId} AND adopted_at IS NULL AND discarded_at IS NULL
    ORDER BY created_at, id`
  const found: Array<Ground> = leftOvers.map(orphanedStateGround)
  const [unfinished] = yield* RunRow.some(
    sql,
    "id",
    "evidence",
    "finished_at"
  )`SELECT id, evidence, finished_at FROM runs
    WHERE capsule_id = ${capsuleId} AND type IN ('apply', 'destroy_apply', 'restore') AND status IN ('failed', 'cancelled')
      AND json_array_length(evidence, '$.possiblyCreated') > 0
    ORDER BY finished_at DESC, id DESC LIMIT 1`
  if (unfinished === undefined) return found
  const { possiblyCreated = [] } = EvidenceJson.read(unfinished.evidence)
  const since = unfinished.finished_at ?? ""
  const succeeded = yield* RunRow.some(sql, "id")`SELECT id FROM runs WHERE capsule_id = ${capsuleId}
    AND type IN ('apply', 'destroy_apply', 'restore') AND COALESCE(purpose, '') <> ${acceptsDrift}
    AND status = 'succeeded' AND finished_at > ${since} LIMIT 1`
  const adopted = yield* StateVersionRow.some(sql, "id")`SELECT v.id FROM state_versions v
    JOIN capsules c ON c.current_state_version_id = v.id
    WHERE c.id = ${capsuleId} AND v.left_over_state_id IS NOT NULL AND v.created_at > ${since}`
  if (succeeded.length > 0 || adopted.length > 0) return found
  return [...found, possiblyCreatedGround(unfinished.id, possiblyCreated)]
}, Effect.orDie)

/** Returns the reasons that no approval of the plan has acknowledged. */
export const unacknowledged = (
  ground: ReadonlyArray<Ground>,
  acknowledged: ReadonlyArray<string>
): ReadonlyArray<Ground> => ground.filter(({ key }) => !acknowledged.includes(key))

/** Returns the distinct codes that an approval must acknowledge. */
export const codesOf = (ground: ReadonlyArray<Ground>): ReadonlyArray<UncertainCode> => [
  ...new Set(ground.map(({ code }) => code))
]

/** Explains why a plan can be neither approved nor applied. Returns `undefined` if everything is acknowledged. */
export const groundWords = (ground: ReadonlyArray<Ground>): string | undefined => {
  if (ground.length === 0) return undefined
  const codes = codesOf(ground)
  const reasons = ground.map(({ detail, summary }) => `${summary} ${detail}`).join(" ")
  return `It is uncertain which objects exist: ${codes.join(", ")}. ${reasons} To approve the plan all the same, name the codes in \`acknowledged\` (\`svc approve ${codes.map((code) => `--acknowledge ${code}`).join(" ")}\`).`
}

/** Returns the same explanation as diagnostics for readers of the plan. */
export const groundDiagnostics = (ground: ReadonlyArray<Ground>): ReadonlyArray<RunDiagnostic> =>
  ground.map(({ code, detail, summary }) => ({ severity: "warning", code, summary, detail }))
