import { Link } from "@tanstack/react-router"
import { lazy, Suspense } from "react"
import { whenReachable } from "../../api/Reachability.ts"
import type { Capsule, RunApprovals } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Notice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import { uncertainWords } from "./UncertainWords.ts"

const OrphanedStateList = lazy(
  whenReachable(async () => ({ default: (await import("../left-over/OrphanedStateList.tsx")).OrphanedStateList }))
)

interface UncertainGroundProps {
  readonly uncertain: NonNullable<RunApprovals["uncertain"]>
  readonly capsule: Capsule | undefined
}

/** The reason why the plan may miss existing objects, and the remedy. */
export const UncertainGround = ({ uncertain, capsule }: UncertainGroundProps) => {
  const words = useWords(uncertainWords)
  const workspace = useWorkspace()
  if (uncertain.length === 0) return null
  return (
    <Notice tone="warn" title={words.title}>
      <ul>
        {[...new Set(uncertain.map(({ code }) => code))].map((code) => (
          <li key={code}>{words.codes[code]}</li>
        ))}
      </ul>
      <p>
        {words.risk}{" "}
        {capsule === undefined ? null : (
          <Link to="/w/$workspace/capsules/$capsuleId" params={{ workspace: workspace.handle, capsuleId: capsule.id }}>
            {words.openCapsule}
          </Link>
        )}
      </p>
    </Notice>
  )
}

/** Shown above the review of a plan: the objects that the plan may miss, and the states that can be adopted or discarded. */
export const UncertainPlan = ({ uncertain, capsule }: UncertainGroundProps & { readonly capsule: Capsule }) =>
  uncertain.length === 0 ? null : (
    <>
      <UncertainGround uncertain={uncertain} capsule={capsule} />
      <Suspense fallback={null}>
        <OrphanedStateList capsule={capsule} />
      </Suspense>
    </>
  )
