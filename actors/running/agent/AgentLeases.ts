import { Context, Effect, Layer, Semaphore } from "effect"
import type { RunClaim } from "../../../schema/agent/AgentJob.ts"
import type { RunId } from "../../../schema/records/Ids.ts"
import { monotonicNow } from "../../base/MonotonicNow.ts"

/** An agent's lease on a Run, and the time of the agent's last contact. */
export interface Lease extends Pick<typeof RunClaim.Type, "runId" | "fence"> {
  readonly agentId: string
  readonly kind: "plan" | "apply" | "drift_check"
  readonly leaseSeconds: number
  readonly isAccepted: boolean
  readonly isUnreachable: boolean
  /**
   * True if the lease was granted at startup and its agent has not contacted the server since. `heardAt` is then the time of the
   * startup.
   */
  readonly isResumed: boolean
  readonly heardAt: bigint
  /** Serial of the newest state that the agent reported. */
  readonly newestSerial?: number | undefined
}

/**
 * The leases of Runs that agents hold. A lease starts at the agent's last contact and is measured by a monotonic clock. Leases
 * are kept in memory: a starting server renews each in full, because agents could not reach it while it was down.
 */
export class AgentLeases extends Context.Service<
  AgentLeases,
  {
    readonly grant: (
      lease: Omit<Lease, "heardAt" | "isUnreachable" | "isResumed" | "newestSerial">,
      isResumed?: boolean
    ) => Effect.Effect<void>
    /** Returns the claim's current lease. */
    readonly of: (claim: typeof RunClaim.Type) => Effect.Effect<Lease | undefined>
    /** Renews the lease and returns its previous value. */
    readonly heard: (claim: typeof RunClaim.Type) => Effect.Effect<Lease | undefined>
    readonly accepted: (claim: typeof RunClaim.Type) => Effect.Effect<void>
    /** Records that the agent has reported a state with this serial. */
    readonly reached: (claim: typeof RunClaim.Type, newestSerial: number) => Effect.Effect<void>
    readonly unreachable: (claim: typeof RunClaim.Type) => Effect.Effect<void>
    readonly end: (claim: typeof RunClaim.Type) => Effect.Effect<void>
    readonly all: Effect.Effect<ReadonlyArray<Lease>>
    /** Serialises decisions about leases, such as giving up a Run and accepting its result. */
    readonly decided: <A, E, R>(decision: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("svc/actors/running/agent/AgentLeases") {
  static readonly layer = Layer.effect(
    AgentLeases,
    Effect.gen(function* () {
      const deciding = yield* Semaphore.make(1)
      const leases = new Map<RunId, Lease>()

      const changed = ({ fence, runId }: typeof RunClaim.Type, change: (lease: Lease) => Lease) => {
        const lease = leases.get(runId)
        if (lease === undefined || lease.fence !== fence) return undefined
        leases.set(runId, change(lease))
        return lease
      }

      return AgentLeases.of({
        grant: (lease, isResumed = false) =>
          Effect.map(
            monotonicNow,
            (heardAt) => void leases.set(lease.runId, { ...lease, isUnreachable: false, isResumed, heardAt })
          ),
        of: ({ fence, runId }) =>
          Effect.sync(() => {
            const lease = leases.get(runId)
            return lease?.fence === fence ? lease : undefined
          }),
        heard: (claim) =>
          Effect.map(monotonicNow, (heardAt) =>
            changed(claim, (lease) => ({ ...lease, heardAt, isUnreachable: false, isResumed: false }))
          ),
        accepted: (claim) =>
          Effect.map(
            monotonicNow,
            (heardAt) => void changed(claim, (lease) => ({ ...lease, heardAt, isAccepted: true, isResumed: false }))
          ),
        reached: (claim, newestSerial) =>
          Effect.sync(() => void changed(claim, (lease) => ({ ...lease, newestSerial }))),
        unreachable: (claim) => Effect.sync(() => void changed(claim, (lease) => ({ ...lease, isUnreachable: true }))),
        end: ({ fence, runId }) =>
          Effect.sync(() => {
            if (leases.get(runId)?.fence === fence) leases.delete(runId)
          }),
        all: Effect.sync(() => [...leases.values()]),
        decided: deciding.withPermits(1)
      })
    })
  )
}
