import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { call } from "../../api/Call.ts"
import { capsulesUpdate } from "../../api/Endpoints.ts"
import { capsuleQuery, decisionsQuery } from "../../api/Queries.ts"
import type { AutoUpdateDecision, Capsule } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice, Notice } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { autoUpdateWords } from "./AutoUpdateWords.ts"
import { CommitLine } from "../../ui/Commit.tsx"
import { useDecision } from "../../ui/Decision.ts"

/** Shown after a rollback: who pinned the Capsule, why, and how to remove the pin. */
export const Pin = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(autoUpdateWords)
  const workspace = useWorkspace()
  const actorName = useActorName()
  const may = useMay()
  const queryClient = useQueryClient()
  const resume = useDecision({
    send: (signal) =>
      call(capsulesUpdate, { signal, params: { capsuleId: capsule.id }, body: { autoUpdate: { resume: true } } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: capsuleQuery(capsule.id).queryKey })
  })
  const pin = capsule.autoUpdate.pinnedBy
  if (pin === undefined) return null
  return (
    <Notice tone="warn" title={words.pinnedTitle}>
      <p>{pin.reason}</p>
      <p>
        {pin.subject === undefined ? null : <>{words.pinnedBy(actorName(pin.subject))} · </>}
        <Time at={pin.at} /> ·{" "}
        <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: pin.runId }}>
          {words.pinnedRun}
        </Link>
      </p>
      <p>{pin.resumeOnNewCommit ? words.pinnedUntilCommit : words.pinnedUntilPerson}</p>
      {resume.error === null ? null : <FaultNotice error={resume.error} />}
      {may("admin") ? (
        <Button small busy={resume.isPending} onClick={() => resume.mutate()}>
          {words.pinnedResume}
        </Button>
      ) : null}
    </Notice>
  )
}

const tones: Readonly<Record<AutoUpdateDecision["decision"], StatusTone>> = {
  taken: "good",
  waiting: "attention",
  skipped: "muted",
  deferred: "neutral"
}

/** The message for a reason, or the server's own wording if this dashboard does not recognise the reason. */
const reasonOf = (sentences: Readonly<Record<string, string>>, { message, reason }: AutoUpdateDecision): string =>
  sentences[reason] ?? message

/** What auto-update decided about the newest snapshots; nothing if it has never decided anything. */
export const Decisions = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(autoUpdateWords)
  const workspace = useWorkspace()
  const { data } = useQuery(decisionsQuery(capsule.id))
  if (data === undefined || data.length === 0) return null
  return (
    <Panel flush title={words.decisions} about={words.decisionsAbout}>
      <ul className="rows">
        {data.slice(0, 5).map((decision) => (
          <li key={decision.id} className="row row-static">
            <span className="row-name row-stack">
              <span>
                <CommitLine id={decision.resolvedCommit} description={decision.commitDescription} />{" "}
                <Status tone={tones[decision.decision]}>{words.decisionKinds[decision.decision]}</Status>
              </span>
              <span className="muted">{reasonOf(words.decisionReasons, decision)}</span>
              {decision.reason === "pinned" || decision.reason === "refused" ? (
                <span className="muted">{decision.message}</span>
              ) : null}
            </span>
            <span className="row-end">
              {decision.runId === undefined ? (
                <Time at={decision.updatedAt} />
              ) : (
                <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: decision.runId }}>
                  <Time at={decision.updatedAt} />
                </Link>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
