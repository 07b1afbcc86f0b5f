import "../../app/Kit.ts"
import { useQueries } from "@tanstack/react-query"
import type { ChangeCause, ChangeCauses } from "../../api/Types.ts"
import { capsuleQuery } from "../../api/Queries.ts"
import { visibleText } from "../../../../schema/records/VisibleText.ts"
import { shortCommit } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { whyWords } from "./WhyWords.ts"

/** Lists the first three addresses. */
const listed = ({ addresses, count }: { readonly addresses: ReadonlyArray<string>; readonly count: number }) =>
  visibleText(`${addresses.slice(0, 3).join(", ")}${count > 3 ? ", …" : ""}`)

type Resource = ChangeCauses["resources"][number]

/** The names of the Capsules that provide inputs. The names of Capsules in other Workspaces are not available. */
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

/**
 * Describes a cause in words that complete a sentence. `here` is true if the cause concerns the resource in the sentence.
 */
const useCauseText = (causes: ReadonlyArray<ChangeCause>, here: boolean) => {
  const words = useWords(whyWords)
  const names = useCapsuleNames(causes)
  return (cause: ChangeCause): string => {
    switch (cause.kind) {
      case "commit":
        return words.commit(shortCommit(cause.from), shortCommit(cause.to), cause.fileCount)
      case "input":
        return words.input(cause.input, cause.change)
      case "dependency":
        return words.dependency(
          cause.input,
          cause.change,
          cause.producerCapsuleId === undefined ? undefined : names.get(cause.producerCapsuleId)
        )
      case "drift":
        return here ? words.driftHere : words.drift(listed(cause), cause.count)
      case "resource":
        return words.resource(listed(cause), cause.count)
      case "data":
        return words.data(listed(cause))
      default:
        return words[cause.kind]
    }
  }
}

/** Explains why a resource changes: the cause if the evidence leaves only one, and all possible causes otherwise. */
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

/** Differences since the last apply that may explain the plan's changes. */
export const PlanWhy = ({ causes, status, unknown }: ChangeCauses) => {
  const words = useWords(whyWords)
  const textOf = useCauseText(causes, false)
  if (status === "first") return <p>{words.first}</p>
  if (status === "destroy") return <p>{words.destroy}</p>
  if (status === "not_recorded") return <p>{words.notRecorded}</p>
  return (
    <>
      <p>{causes.length === 0 && unknown.length === 0 ? words.nothing : words.since}</p>
      <ul className="plain-list marked-list">
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
