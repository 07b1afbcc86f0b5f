import { useQuery } from "@tanstack/react-query"
import { createContext, lazy, Suspense, useContext } from "react"
import { changeCausesQuery } from "../../api/PlanQueries.ts"
import { whenReachable } from "../../api/Reachability.ts"

/** The plan whose changes are explained; none where nothing is. */
export const ExplainedPlan = createContext<string | undefined>(undefined)

const ResourceWhy = lazy(whenReachable(async () => ({ default: (await import("./WhyChanged.tsx")).ResourceWhy })))

/** Why a resource changes, once its row is open and the answer is there. */
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
