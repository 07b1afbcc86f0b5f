import { Effect } from "effect"
import { toolTitles } from "../../../runner/toolchain/Tool.ts"
import { Toolchain } from "../../../runner/toolchain/Toolchain.ts"
import { localPool } from "../../../schema/agent/PoolName.ts"
import type { RunEvidence, ToolIdentity } from "../../../schema/records/Run.ts"
import { holdOf } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import type { LoadedInstallConfig } from "../../ledger/configuration/InstallConfigStore.ts"
import {
  type NamedProfile,
  OperatorConfigs,
  profileNameOf,
  profileOf
} from "../../ledger/configuration/OperatorConfigs.ts"
import { makeAgentMachine } from "./AgentMachine.ts"
import { blocked, type RunBlocked } from "./RunSteps.ts"

/** The profile and the tool that execute a Run. */
export const makeRunProfiles = Effect.gen(function* () {
  const ledger = yield* RunLedger
  const toolchain = yield* Toolchain
  const operator = yield* OperatorConfigs
  const agents = yield* makeAgentMachine

  /** Recorded before execution, so that it is known no matter how the Run ends. */
  const of = Effect.fnUntraced(function* (run: RunRow, config: LoadedInstallConfig) {
    const name = profileNameOf(config.config.operator)
    const profile = profileOf(operator, name)
    if (profile === undefined) {
      return yield* blocked(
        "profile_unavailable",
        `The execution profile ${name} of this Capsule's configuration is not defined any more. Plan again to follow the operator's policy, or ask the operator to define it.`
      )
    }
    const pool = profile.profile.pool ?? localPool
    if (pool !== run.pool) {
      return yield* blocked(
        "profile_unavailable",
        `The execution profile ${name} uses the pool ${pool} now, and this Run was queued for ${run.pool}. Start it again.`
      )
    }
    yield* ledger.record(holdOf(run), { profile: profile.name, profile_digest: profile.digest })
    return profile
  })

  /** A Capsule keeps the tool that applied it, and a profile may require a tool and version. */
  const tool = Effect.fnUntraced(function* (
    run: RunRow,
    capsule: GuardedCapsuleRow,
    profile: NamedProfile,
    evidence: RunEvidence
  ): Effect.fn.Return<ToolIdentity, RunBlocked> {
    const wanted = profile.profile.tool
    if (capsule.tool_name !== null && wanted?.name !== undefined && wanted.name !== capsule.tool_name) {
      return yield* blocked(
        "profile_unavailable",
        `The Capsule was applied with ${toolTitles[capsule.tool_name]}, and the execution profile ${profile.name} uses ${toolTitles[wanted.name]}. A Capsule keeps its tool: ask the operator to choose another profile for it.`,
        evidence
      )
    }
    if (run.pool !== localPool) return yield* agents.tool(run, evidence)
    const name = capsule.tool_name ?? wanted?.name
    return yield* toolchain
      .resolve(name === undefined && wanted?.version === undefined ? undefined : { name, version: wanted?.version })
      .pipe(
        Effect.mapError((error) =>
          wanted === undefined
            ? blocked("tool_unavailable", error.message, evidence)
            : blocked(
                "profile_unavailable",
                `The execution profile ${profile.name}: ${error.message} ${error.remedy}`,
                evidence
              )
        )
      )
  })

  return { of, tool }
})
