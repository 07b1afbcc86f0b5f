import { defaultProfile, type ExecutionProfile } from "../../../schema/policy/ExecutionProfile.ts"
import { defaultCheck, type PostApplyCheck } from "../../../schema/policy/PostApplyCheck.ts"
import type { OperatorEvidence, PlannedCheck } from "../../../schema/records/Run.ts"
import type { RunRequirements } from "../../../runner/sandbox/RunRequirements.ts"
import type { RunRow } from "../run/RunRow.ts"
import type { StoredConfig } from "./InstallConfigStore.ts"
import { type OperatorConfigsShape, operatorBaseOf, profileNameOf, profileOf } from "./OperatorConfigs.ts"
import { repositoryPathOf } from "../source/SnapshotManifest.ts"

/** The parts of a snapshot that select the base configuration of a module. */
export interface SnapshotPlace {
  readonly url: string
  readonly path: string
}

/** Returns true if the operator's base configuration has changed since the configuration was compiled. */
export const baseMoved = (
  operator: OperatorConfigsShape,
  config: Pick<StoredConfig, "operator">,
  snapshot: SnapshotPlace,
  modulePath: string
): boolean =>
  operatorBaseOf(operator, { url: snapshot.url, path: repositoryPathOf(snapshot, modulePath) })?.digest !==
  config.operator?.digest

/**
 * Returns the reason why a plan is void if the operator has changed the base configuration or the profile since the plan was
 * created. Plans from releases without profiles are treated as plans under the default profile.
 */
export const operatorMoved = (
  operator: OperatorConfigsShape,
  plan: Pick<RunRow, "profile" | "profile_digest">,
  config: Pick<StoredConfig, "operator">,
  snapshot: SnapshotPlace,
  modulePath: string
): string | undefined => {
  if (baseMoved(operator, config, snapshot, modulePath)) {
    return "The operator has changed the base configuration of this module since the plan was made. Plan again."
  }
  const name = profileNameOf(config.operator)
  const madeUnder = plan.profile ?? defaultProfile
  const now = profileOf(operator, name)
  const madeDigest = plan.profile_digest ?? profileOf({ ...operator, profiles: {} }, defaultProfile)?.digest
  return now !== undefined && name === madeUnder && now.digest === madeDigest
    ? undefined
    : `The operator has changed the execution profile ${name} since the plan was made. Plan again.`
}

/** Returns the requirements that a profile sets for the runner. */
export const requirementsOf = (name: string, { isolation, limits, network }: ExecutionProfile): RunRequirements => ({
  profile: name,
  ...(isolation === undefined ? {} : { isolation }),
  ...(network === undefined ? {} : { network }),
  ...(limits === undefined
    ? {}
    : {
        limits: {
          ...(limits.memory === undefined ? {} : { memoryBytes: limits.memory }),
          ...(limits.processes === undefined ? {} : { processes: limits.processes }),
          ...(limits.tmp === undefined ? {} : { tmpBytes: limits.tmp }),
          ...(limits.shm === undefined ? {} : { shmBytes: limits.shm }),
          ...(limits.folder === undefined ? {} : { folderBytes: limits.folder })
        }
      })
})

export const plannedCheck = ({ name, path, status, target, timeout }: PostApplyCheck): PlannedCheck => ({
  name,
  target: "output" in target ? `the Output ${target.output}` : "the endpoint",
  ...(path === undefined ? {} : { path }),
  status: status ?? defaultCheck.status,
  timeoutSeconds: timeout ?? defaultCheck.timeout
})

/** Describes the operator's base configuration to reviewers, without values. */
export const operatorEvidence = ({ operator }: Pick<StoredConfig, "operator">): OperatorEvidence | undefined =>
  operator === undefined
    ? undefined
    : {
        digest: operator.digest,
        ...(operator.name === undefined ? {} : { name: operator.name }),
        variables: operator.variables,
        postApply: (operator.lifecycle?.postApply ?? []).map(plannedCheck)
      }
