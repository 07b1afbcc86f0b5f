import { useQuery } from "@tanstack/react-query"
import { createContext, lazy, Suspense, useContext } from "react"
import { changeCausesQuery } from "../../api/PlanQueries.ts"
import { whenReachable } from "../../api/Reachability.ts"
import { FaultNotice, Skeleton } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { useWords } from "../../words/Words.ts"
import { planWords } from "./PlanWords.ts"

/** The id of the plan whose changes are explained, if any. */
export const ExplainedPlan = createContext<string | undefined>(undefined)

// Loaded lazily, so that the plan loads before the causes.
const ResourceWhy = lazy(whenReachable(async () => ({ default: (await import("./WhyChanged.tsx")).ResourceWhy })))
const PlanWhy = lazy(whenReachable(async () => ({ default: (await import("./WhyChanged.tsx")).PlanWhy })))

/** The differences since the last apply. */
export const Why = ({ runId }: { readonly runId: string }) => {
  const words = useWords(planWords)
  const { data, error } = useQuery(changeCausesQuery(runId))
  const place = <Skeleton rows={2} />
  return (
    <Panel title={words.why}>
      <div className="stack" data-testid="why-changed">
        {error !== null ? (
          <FaultNotice error={error} />
        ) : data === undefined ? (
          place
        ) : (
          <Suspense fallback={place}>
            <PlanWhy {...data} />
          </Suspense>
        )}
      </div>
    </Panel>
  )
}

/** The reason why a resource changes. Shown once its row is expanded and the response has arrived. */
export const RowWhy = ({ address }: { readonly address: string }) => {
  const runId = useContext(ExplainedPlan)
  const { data } = useQuery({
    ...changeCausesQuery(runId ?? ""),
    enabled: runId !== undefined,
    select: ({ resources }) => resources.find((each) => each.address === address)
  })
  return data === undefined ? null : (
    <Suspense fallback={null}>
      <ResourceWhy resource={data} />
    </Suspense>
  )
}
