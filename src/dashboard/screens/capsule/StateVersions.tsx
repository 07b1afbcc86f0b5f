import { isEnded } from "../../../../schema/records/CapsuleLifecycle.ts"
import { useInfiniteQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { stateVersionsQuery } from "../../api/Queries.ts"
import type { Capsule, StateVersion } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { CopyText } from "../../ui/CopyText.tsx"
import { Empty, Loadable } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { Status } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { shortDigest } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { Rollback } from "./Rollback.tsx"
import { capsuleWords } from "./Words.ts"

const Row = ({ version, capsule }: { readonly version: StateVersion; readonly capsule: Capsule }) => {
  const words = useWords(capsuleWords)
  const workspace = useWorkspace()
  const may = useMay()
  const isCurrent = version.id === capsule.currentStateVersionId
  const [isAsking, setAsking] = useState(false)
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <span>
          <strong>#{version.generation}</strong> {words.resources(version.resourceCount)}
        </span>
        <span className="muted">
          {words.serial} {version.serial} · <Time at={version.createdAt} /> ·{" "}
          <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: version.createdByRunId }}>
            {words.fromRun}
            <span className="visually-hidden">: #{version.generation}</span>
          </Link>
        </span>
      </span>
      <CopyText text={version.digest} shown={shortDigest(version.digest)} />
      <span className="row-end">
        {version.partial ? (
          <span title={words.partialHelp}>
            <Status tone="attention">{words.partial}</Status>
          </span>
        ) : null}
        {version.origin === "adopted" ? (
          <span title={words.takenOverHelp}>
            <Status tone="neutral">{words.takenOver}</Status>
          </span>
        ) : null}
        {isCurrent ? (
          <Status tone="good">{words.current}</Status>
        ) : may("member") && !isEnded(capsule.status) && version.origin !== "adopted" ? (
          <Button small of={`#${version.generation}`} onClick={() => setAsking(true)}>
            {words.rollback}
          </Button>
        ) : null}
      </span>
      {isAsking ? <Rollback version={version} onClose={() => setAsking(false)} /> : null}
    </li>
  )
}

export const StateVersions = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(capsuleWords)
  const query = useInfiniteQuery(stateVersionsQuery(capsule.id))
  return (
    <>
      <Panel flush title={words.stateTitle} about={words.stateAbout}>
        <Loadable query={query}>
          {({ pages }) => {
            const versions = pages.flatMap((page) => page.stateVersions)
            return versions.length === 0 ? (
              <Empty icon="lock" title={words.stateNone}>
                <p>{words.stateNoneText}</p>
              </Empty>
            ) : (
              <ul className="rows">
                {versions.map((version) => (
                  <Row key={version.id} version={version} capsule={capsule} />
                ))}
              </ul>
            )
          }}
        </Loadable>
      </Panel>
      <MorePages query={query} />
    </>
  )
}
