import { Link } from "@tanstack/react-router"
import type { Capsule, FoldedRun, Run } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { SourceName } from "../../app/SourceName.tsx"
import { Sum } from "../../ui/Sum.tsx"
import { useWorkspace } from "../../app/Workspace.ts"
import { CommitLine } from "../../ui/Commit.tsx"
import { RunStatus, Status } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { duration } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { barsOf, tookOf } from "./ChangeLines.ts"
import { runListWords } from "./RunListWords.ts"

const changesNothing = ({ planSummary: sum }: Run): boolean =>
  sum !== undefined &&
  [sum.add, sum.change, sum.destroy, sum.replace, sum.import, sum.forget].every((count) => count === 0)

/** The status of a change, which is the status of its latest Run. */
const Standing = ({ run, apply }: { readonly run: Run; readonly apply: FoldedRun | undefined }) => {
  const text = useWords(runListWords)
  const terms = useWords(vocabulary)
  const last = apply ?? run
  const destroys = last.type === "destroy_apply"
  const isApply = destroys || last.type === "apply"
  if (isApply && last.status === "succeeded") {
    return <Status tone="good">{destroys ? text.destroyed : text.applied}</Status>
  }
  if (isApply && last.status === "failed") {
    return <Status tone="bad">{destroys ? text.destroyFailed : text.applyFailed}</Status>
  }
  if (isApply && last.status === "running") {
    return <Status tone="busy">{destroys ? text.destroying : text.applying}</Status>
  }
  if (isApply && last.status === "queued") return <Status tone="neutral">{text.applyQueued}</Status>
  if (isApply)
    return (
      <Status tone="muted">{last.status === "cancelled" ? text.applyCancelled : terms.runStatus[last.status]}</Status>
    )
  if (run.type === "plan" || run.type === "destroy_plan") {
    if (run.status === "running") return <Status tone="busy">{text.planning}</Status>
    if (run.status === "failed") return <Status tone="bad">{text.planFailed}</Status>
    if (run.status === "succeeded" && run.approvedAt === undefined && changesNothing(run)) {
      return <Status tone="neutral">{text.noChanges}</Status>
    }
  }
  return <RunStatus run={run} />
}

const Bars = ({ run, apply }: { readonly run: Run; readonly apply: FoldedRun | undefined }) => {
  const text = useWords(runListWords)
  const bars = barsOf(run, apply)
  if (bars === undefined) return null
  const [plan, approval, applied] = bars
  return (
    <span className="run-bars">
      <span className="visually-hidden">{text.bars(text.bar[plan], text.bar[approval], text.bar[applied])}</span>
      {bars.map((bar, index) => (
        <i key={["plan", "approval", "apply"][index]} className={`run-bar-${bar}`} />
      ))}
    </span>
  )
}

/** The Runs below a line, each with its kind, state and time. */
export const FoldedRows = ({
  runs
}: {
  readonly runs: ReadonlyArray<
    Pick<Run, "id" | "type" | "status" | "createdAt"> & { readonly name?: string | undefined }
  >
}) => {
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  return (
    <ul className="folded-runs">
      {runs.map((run) => (
        <li key={run.id}>
          <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: run.id }}>
            {run.name === undefined ? terms.runType[run.type] : run.name}
            <span className="visually-hidden"> {run.id}</span>
          </Link>
          <RunStatus run={run} />
          <span className="muted">
            <Time at={run.createdAt} />
          </span>
        </li>
      ))}
    </ul>
  )
}

interface ChangeRowProps {
  readonly run: Run
  readonly apply: FoldedRun | undefined
  readonly fed: ReadonlyArray<FoldedRun>
  readonly capsule: Capsule | undefined
  /** Set only if there are several Projects. */
  readonly project: string | undefined
}

/** A line for a change. It links to the latest Run of the change and lists the earlier Runs in a collapsed section. */
export const ChangeRow = ({ run, apply, fed, capsule, project }: ChangeRowProps) => {
  const text = useWords(runListWords)
  const terms = useWords(vocabulary)
  const language = useLanguage()
  const workspace = useWorkspace()
  const actorName = useActorName()
  const kind = run.speculative === true ? terms.speculativePlan : terms.runType[(apply ?? run).type]
  const took = tookOf(run, apply)
  const count = (type: Run["type"]) => fed.filter((each) => each.type === type).length
  const replaced = count("plan") + count("destroy_plan")
  const parts = [
    ...(apply === undefined ? [] : [text.thePlan]),
    ...(count("source_sync") === 0 ? [] : [text.syncs(count("source_sync"))]),
    ...(count("compatibility_check") === 0 ? [] : [text.checks(count("compatibility_check"))]),
    ...(replaced === 0 ? [] : [text.replaced(replaced)])
  ]
  const folded = apply === undefined ? fed : [run, ...fed]
  return (
    <>
      <Link
        to="/w/$workspace/runs/$runId"
        params={{ workspace: workspace.handle, runId: (apply ?? run).id }}
        className="row run-row"
        data-run-row
      >
        <span className="row-name">
          {capsule === undefined && run.sourceId !== undefined ? (
            <SourceName id={run.sourceId}>{kind}</SourceName>
          ) : (
            <strong>{capsule?.name ?? kind}</strong>
          )}
          {capsule === undefined ? null : <span className="tag">{capsule.environment}</span>}
          {project === undefined ? null : <span className="muted">{project}</span>}
          {capsule === undefined ? null : <span className="muted">{kind}</span>}
        </span>
        <span className="run-commit">
          {run.resolvedCommit === undefined ? null : (
            <CommitLine id={run.resolvedCommit} description={run.commitDescription} withAuthor={false} />
          )}
        </span>
        <span className="run-sum">{run.planSummary === undefined ? null : <Sum summary={run.planSummary} />}</span>
        <span className="run-state">
          <Bars run={run} apply={apply} />
          <Standing run={run} apply={apply} />
        </span>
        <span className="run-who">
          {run.createdBy === undefined ? terms.trigger[run.trigger] : actorName(run.createdBy)}
        </span>
        <span className="run-took">{took === undefined ? null : duration(language, took)}</span>
        <span className="run-when">
          <Time at={run.createdAt} />
        </span>
      </Link>
      {parts.length === 0 ? null : (
        <details className="run-fold">
          <summary>{parts.join(language === "ja" ? "、" : ", ")}</summary>
          <FoldedRows runs={folded} />
        </details>
      )}
    </>
  )
}
