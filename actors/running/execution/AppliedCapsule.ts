import { Redacted } from "effect"
import type { StateOutput } from "../../../runner/execution/RunOutcome.ts"
import type { SecretText } from "../../../runner/redaction/SecretText.ts"
import type { RunDiagnostic, RunEvidence, RunType } from "../../../schema/records/Run.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import type { StateVersionId } from "../../../schema/records/Ids.ts"
import type { ApplyResult } from "./ApplyResult.ts"
import type { PreparedApply } from "./PreparationSchemas.ts"

const endpointOutputs = ["public_endpoint", "endpoint_url", "url"]

/** Returns the value of `public_endpoint`: an https URL that the module publishes in a public Output. */
const publicEndpoint = (outputs: ReadonlyArray<StateOutput>): string | null => {
  for (const name of endpointOutputs) {
    const output = outputs.find((candidate) => candidate.name === name && !candidate.sensitive)
    const value = output === undefined ? undefined : Redacted.value(output.value)
    if (typeof value === "string" && URL.parse(value)?.protocol === "https:") return value
  }
  return null
}

/**
 * Returns true if the state becomes a new StateVersion of the Capsule. If the apply failed and changed nothing, the previous
 * StateVersion remains.
 */
export const isNewState = ({ changedAnything, exit, lineage, state }: ApplyResult): boolean =>
  state !== undefined && lineage !== undefined && (exit === "succeeded" || changedAnything)

const pointersTo = (
  stateVersionId: StateVersionId | undefined,
  { current_state_generation }: Pick<GuardedCapsuleRow, "current_state_generation">
) =>
  stateVersionId === undefined
    ? {}
    : { current_state_version_id: stateVersionId, current_state_generation: current_state_generation + 1 }

/**
 * Returns the columns of a Capsule that change when drift is accepted: the state, and the columns derived from the state. No
 * object was changed, so the Capsule keeps the status and safety of its last apply.
 */
export const refreshedCapsule = (
  capsule: Pick<GuardedCapsuleRow, "current_state_generation" | "drift_checked_at">,
  result: ApplyResult,
  stateVersionId: StateVersionId | undefined
): Record<string, string | number | null> => ({
  ...pointersTo(stateVersionId, capsule),
  ...(result.exit === "succeeded"
    ? {
        public_endpoint: publicEndpoint(result.outputs),
        drift_status: capsule.drift_checked_at === null ? "unknown" : "none"
      }
    : {})
})

/** Returns the Capsule's columns after an apply. `stateVersionId` is the id of the resulting StateVersion. */
export const capsuleAfter = (
  type: RunType,
  capsule: Pick<GuardedCapsuleRow, "current_state_generation" | "drift_checked_at" | "tool_name">,
  result: ApplyResult,
  prepared: PreparedApply | undefined,
  stateVersionId: StateVersionId | undefined
): Record<string, string | number | null> => {
  const pointers = pointersTo(stateVersionId, capsule)
  if (result.exit === "succeeded") {
    const settled = {
      ...pointers,
      runtime_safety: "safe",
      tool_name: prepared?.tool.name ?? capsule.tool_name,
      provider_lock: prepared?.lockText ?? null
    }
    if (type === "destroy_apply") {
      return { ...settled, status: "destroyed", public_endpoint: null, drift_status: "none" }
    }
    return {
      ...settled,
      status: "active",
      public_endpoint: publicEndpoint(result.outputs),
      // An apply clears known drift, but is not treated as the first drift check.
      drift_status: capsule.drift_checked_at === null ? "unknown" : "none"
    }
  }
  const uncertain =
    result.changedAnything ||
    result.possiblyCreated.length > 0 ||
    result.sandboxKilled ||
    result.stateProblem !== undefined
  return uncertain ? { ...pointers, status: "error", runtime_safety: "unknown" } : pointers
}

/** Limits on the recorded secrets of earlier applies. When a limit is exceeded, only the newest secrets are kept. */
const mostSecrets = { texts: 4_096, bytes: 512 * 1024 }

/**
 * Selects the secret inputs to record with a state. If an apply updates nothing, the state still contains inputs that have been
 * changed or removed, and the next plan shows their old values.
 */
export const rememberedSecrets = (
  now: ReadonlyArray<SecretText>,
  before: ReadonlyArray<SecretText>
): ReadonlyArray<SecretText> => {
  const byText = new Map<string, SecretText>()
  let bytes = 0
  for (const secret of [...now, ...before]) {
    const text = Redacted.value(secret.value)
    if (byText.has(text) || byText.size === mostSecrets.texts || bytes + text.length > mostSecrets.bytes) continue
    byText.set(text, secret)
    bytes += text.length
  }
  return [...byText.values()]
}

/** Combines the public evidence of an apply: its preparation, its outcome, and notes about host deliveries. */
export const appliedEvidence = (
  prepared: Pick<PreparedApply, "evidence"> | undefined,
  { evidence, possiblyCreated }: Pick<ApplyResult, "evidence" | "possiblyCreated">,
  notes: ReadonlyArray<RunDiagnostic>
): RunEvidence => ({
  ...prepared?.evidence,
  ...evidence,
  diagnostics: [...(evidence.diagnostics ?? []), ...notes],
  possiblyCreated
})
