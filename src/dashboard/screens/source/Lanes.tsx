import type { SourceLane } from "../../api/Types.ts"
import { FailureReason } from "../../ui/FailureReason.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { sourceWords } from "../sources/Words.ts"
import { Commit } from "../../ui/Commit.tsx"

const LaneRow = ({
  lane,
  gitAddress,
  isDefault
}: {
  readonly lane: SourceLane
  readonly gitAddress: string
  readonly isDefault: boolean
}) => {
  const words = useWords(sourceWords)
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <span>
          <code>{lane.ref}</code>
          {lane.path === "." ? null : <span className="muted"> {lane.path}</span>}{" "}
          {isDefault ? <span className="tag">{words.laneDefault}</span> : null}
        </span>
        {lane.commit === undefined ? null : (
          <Commit id={lane.commit} description={lane.commitDescription} gitAddress={gitAddress} />
        )}
        <span className="muted">
          {lane.lastLookAt === undefined ? (
            words.laneNeverLooked
          ) : (
            <>
              {words.laneLooked} <Time at={lane.lastLookAt} />
            </>
          )}
          {lane.lastChangeAt === undefined ? null : (
            <>
              {" · "}
              {words.laneChanged} <Time at={lane.lastChangeAt} />
            </>
          )}
          {" · "}
          {lane.nextLookAt === undefined ? (
            words.laneNotScheduled
          ) : (
            <>
              {words.laneNext} <Time at={lane.nextLookAt} />
            </>
          )}
        </span>
        {lane.error === undefined ? null : (
          <Notice tone="bad" title={words.laneFailed}>
            <FailureReason error={lane.error} />
            <p className="notice-meta">
              <code>{lane.error.code}</code> · {words.laneFailedSince} <Time at={lane.error.since} />
            </p>
          </Notice>
        )}
      </span>
    </li>
  )
}

/** The commit of each used ref, and the time of its last check. The default ref is first. */
export const Lanes = ({
  lanes,
  gitAddress
}: {
  readonly lanes: ReadonlyArray<SourceLane>
  readonly gitAddress: string
}) => {
  const words = useWords(sourceWords)
  return (
    <Panel flush title={words.lanes} about={words.lanesAbout}>
      <ul className="rows">
        {lanes.map((lane, index) => (
          <LaneRow key={`${lane.ref} ${lane.path}`} lane={lane} gitAddress={gitAddress} isDefault={index === 0} />
        ))}
      </ul>
    </Panel>
  )
}
