import { useQueries, useQuery } from "@tanstack/react-query"
import type { ChangeCause, ChangeCauses } from "../../api/Types.ts"
import { changeCausesQuery } from "../../api/PlanQueries.ts"
import { capsuleQuery } from "../../api/Queries.ts"
import { FaultNotice, Skeleton } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { visibleText } from "../../value-difference/VisibleText.ts"
import { shortCommit } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { whyWords } from "./WhyWords.ts"

type Resource = ChangeCauses["resources"][number]

/** The names of the Capsules that fill inputs; a Capsule of another Workspace has none here. */
const useCapsuleNames = (causes: ReadonlyArray<ChangeCause>) => {
  const ids = [
    ...new Set(
      causes.flatMap((cause) =>
        cause.kind === "dependency" && cause.producerCapsuleId !== undefined ? [cause.producerCapsuleId] : []
      )
    )
  ]
  const names = useQueries({ queries: ids.map((id) => ({ ...capsuleQuery(id), retry: false })) })
  return new Map(ids.map((id, index) => [id, names[index]?.data?.name]))
}

/** A cause as the second half of a sentence; `here` for the resource that the sentence is about. */
const useCauseText = (causes: ReadonlyArray<ChangeCause>, here: boolean) => {
  const words = useWords(whyWords)
  const names = useCapsuleNames(causes)
  return (cause: ChangeCause): string => {
    switch (cause.kind) {
      case "commit":
        return words.commit(shortCommit(cause.from), shortCommit(cause.to), cause)
      case "input":
        return words.input(cause)
      case "dependency":
        return words.dependency(
          cause,
          cause.producerCapsuleId === undefined ? undefined : names.get(cause.producerCapsuleId)
        )
      case "drift":
        return here ? words.driftHere : visibleText(words.drift(cause))
      case "resource":
        return visibleText(words.resource(cause))
      case "data":
        return visibleText(words.data(cause))
      default:
        return words[cause.kind]
    }
  }
}

/** Why one resource changes: the cause where the evidence leaves one, otherwise the possible ones. */
export const ResourceWhy = ({ resource }: { readonly resource: Resource }) => {
  const words = useWords(whyWords)
  const textOf = useCauseText(resource.causes, true)
  const texts = resource.causes.map(textOf)
  const [only] = texts
  return (
    <p className="change-why" data-testid="why">
      {only === undefined ? words.unexplained : resource.certain ? words.because(only) : words.possible(texts)}
    </p>
  )
}

const Causes = ({ causes, status, unknown }: ChangeCauses) => {
  const words = useWords(whyWords)
  const textOf = useCauseText(causes, false)
  if (status === "first") return <p>{words.first}</p>
  if (status === "destroy") return <p>{words.destroy}</p>
  if (status === "not_recorded") return <p>{words.notRecorded}</p>
  return (
    <>
      <p>{causes.length === 0 && unknown.length === 0 ? words.nothing : words.since}</p>
      <ul className="plain-list">
        {causes.map((cause) => (
          <li key={JSON.stringify(cause)}>{textOf(cause)}</li>
        ))}
        {unknown.map((what) => (
          <li key={what} className="muted">
            {words.unknown[what]}
          </li>
        ))}
      </ul>
    </>
  )
}

/** What differs since the last apply and may be why the plan changes anything. */
export const WhyChanged = ({ runId }: { readonly runId: string }) => {
  const words = useWords(whyWords)
  const { data, error } = useQuery(changeCausesQuery(runId))
  return (
    <Panel title={words.title}>
      <div className="stack" data-testid="why-changed">
        {data !== undefined ? (
          <Causes {...data} />
        ) : error === null ? (
          <Skeleton rows={2} />
        ) : (
          <FaultNotice error={error} />
        )}
      </div>
    </Panel>
  )
}
