import type { Capsule } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { Notice } from "../../ui/Feedback.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { releaseWords } from "./ReleaseWords.ts"
import { capsuleWords } from "./Words.ts"

/** Shows how a Capsule ended. */
export const Ended = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(capsuleWords)
  const text = useWords(releaseWords)
  const actorName = useActorName()
  if (capsule.status === "destroyed") return <Notice tone="info">{words.gone}</Notice>
  const { release } = capsule
  if (release === undefined) return null
  return (
    <Notice tone="info" title={text.releasedTitle}>
      <p>{text.ended[release.reason]}</p>
      <p>
        {text.releasedBy(release.by === undefined ? "svc" : actorName(release.by))} <Time at={release.at} />
        {release.comment === undefined ? null : (
          <>
            {": "}
            <q>{release.comment}</q>
          </>
        )}
      </p>
    </Notice>
  )
}
