import { Effect, Layer, Metric, Schedule } from "effect"
import { type StoredAmount, StoredBytes } from "../../actors/upkeep/retention/StoredBytes.ts"
import { StoredKind } from "../../schema/records/StoredKind.ts"

const sampleEvery = "15 seconds"
/**
 * Maximum number of Workspaces with their own label. An installation may have thousands, and each label adds one time series per
 * kind.
 */
const namedWorkspaces = 20

const stored = Metric.gauge("svc_stored_bytes", {
  description: "Bytes that are kept, by kind, counted once an hour; absent until the first count."
})

const ofWorkspace = Metric.gauge("svc_workspace_stored_bytes", {
  description:
    "The same by kind and Workspace for the 20 Workspaces that keep the most; all others together are `other`."
})

const sum = (amounts: ReadonlyArray<StoredAmount>) => amounts.reduce((total, { bytes }) => total + bytes, 0)

/** Returns the amounts of the largest Workspaces, and the total of all others. */
const byWorkspace = (amounts: ReadonlyArray<StoredAmount>): ReadonlyMap<string, ReadonlyArray<StoredAmount>> => {
  const groups = Map.groupBy(
    amounts.filter(({ workspaceId }) => workspaceId !== null),
    ({ workspaceId }): string => workspaceId ?? ""
  )
  const ranked = [...groups].toSorted(([, left], [, right]) => sum(right) - sum(left))
  const others = ranked.slice(namedWorkspaces).flatMap(([, rest]) => rest)
  const named = new Map<string, ReadonlyArray<StoredAmount>>(ranked.slice(0, namedWorkspaces))
  return others.length === 0 ? named : named.set("other", others)
}

const sampler = () => {
  let labelled: ReadonlySet<string> = new Set()
  return Effect.gen(function* () {
    const measured = yield* (yield* StoredBytes).measured
    if (measured === undefined) return
    const { amounts } = measured
    const workspaces = byWorkspace(amounts)
    const update = (workspace: string, kind: StoredKind, bytes: number) =>
      Metric.update(Metric.withAttributes(ofWorkspace, { workspace, kind }), bytes)
    for (const kind of StoredKind.literals) {
      const isOf = (amount: StoredAmount) => amount.kind === kind
      yield* Metric.update(Metric.withAttributes(stored, { kind }), sum(amounts.filter(isOf)))
      for (const [workspace, own] of workspaces) yield* update(workspace, kind, sum(own.filter(isOf)))
      // Reset Workspaces that have lost their label. They would otherwise report their last value forever.
      for (const workspace of labelled) if (!workspaces.has(workspace)) yield* update(workspace, kind, 0)
    }
    labelled = new Set([...labelled, ...workspaces.keys()])
  })
}

/** Samples the most recent count of stored bytes. */
export const storedMetrics = Layer.effectDiscard(
  Effect.suspend(() => Effect.forkScoped(Effect.repeat(sampler(), Schedule.spaced(sampleEvery))))
)
