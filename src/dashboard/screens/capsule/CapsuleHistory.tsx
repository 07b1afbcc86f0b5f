import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useEffect, useState } from "react"
import { isEnded } from "../../../../schema/records/CapsuleLifecycle.ts"
import { commitLink } from "../../../../schema/git/CommitLink.ts"
import { isPlan } from "../../../../schema/records/RunTransitions.ts"
import { runsQuery, sourceQuery, stateVersionsQuery } from "../../api/Queries.ts"
import type { Capsule, Run, StateVersion } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { Sum } from "../../ui/Sum.tsx"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button, LinkButton } from "../../ui/Button.tsx"
import { CommitLine } from "../../ui/Commit.tsx"
import { commitWords } from "../../ui/CommitWords.ts"
import { Empty, Loadable } from "../../ui/Feedback.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { RunStatus } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { exactTime, shortCommit } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { type HistoryLine, historyLines, isDecided, tellingCheck } from "./HistoryLines.ts"
import { historyWords } from "./HistoryWords.ts"
import { Rollback } from "./Rollback.tsx"
import { capsuleWords } from "./Words.ts"

/** An item in a history row: a commit, the author of the commit, a check, or the drift that the check found. */
const Step = ({ children, name }: { readonly name: string; readonly children: ReactNode }) => (
  <span className="history-step" data-step={name}>
    {children}
  </span>
)

/** A link to a Run. Its accessible name contains the Run's time, because other lines have links with the same text. */
const RunLink = ({
  run: { id, createdAt },
  children
}: {
  readonly run: Pick<Run, "id" | "createdAt">
  readonly children: ReactNode
}) => {
  const workspace = useWorkspace()
  const language = useLanguage()
  return (
    <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: id }}>
      {children}
      <span className="visually-hidden">: {exactTime(language, createdAt)}</span>
    </Link>
  )
}

interface CommitFacts {
  /** The Git address of the Source. */
  readonly url: string | undefined
  /** `false` if the line has no room for the author. */
  readonly withAuthor: boolean
}

const CommitStep = ({
  run: { commitDescription, resolvedCommit },
  url,
  withAuthor
}: Pick<HistoryLine, "run"> & CommitFacts) => {
  const words = useWords(commitWords)
  if (resolvedCommit === undefined) return <Step name="commit">{null}</Step>
  const link = url === undefined ? undefined : commitLink(url, resolvedCommit)
  return (
    <Step name="commit">
      <CommitLine id={resolvedCommit} description={commitDescription} withAuthor={withAuthor} />
      {link === undefined ? null : (
        <a href={link} target="_blank" rel="noreferrer noopener" aria-label={words.open(shortCommit(resolvedCommit))}>
          <Icon name="external" />
        </a>
      )}
    </Step>
  )
}

const PlanStep = ({ run }: Pick<HistoryLine, "run">) => {
  const words = useWords(historyWords)
  const terms = useWords(vocabulary)
  const name =
    run.type === "destroy_plan"
      ? words.destroyPlan
      : run.purpose !== undefined
        ? words.purposes[run.purpose]
        : run.adopts !== undefined
          ? words.adopts
          : run.type === "plan"
            ? words.plan
            : terms.runType[run.type]
  const changes = run.planSummary === undefined ? [] : Object.values(run.planSummary).filter((count) => count > 0)
  return (
    <Step name="plan">
      <RunLink run={run}>{name}</RunLink>
      {run.planSummary === undefined ? null : changes.length === 0 ? (
        <span className="muted">{words.noChanges}</span>
      ) : (
        <Sum summary={run.planSummary} />
      )}
    </Step>
  )
}

const ApprovalStep = ({ line }: { readonly line: HistoryLine }) => {
  const words = useWords(historyWords)
  const actorName = useActorName()
  const { run } = line
  if (!isPlan(run.type)) return <Step name="approval">{null}</Step>
  if (!isDecided(line))
    return (
      <Step name="approval">
        {run.status === "waiting_approval" ? (
          words.waiting
        ) : (
          <>
            <span className="muted">{words.unapproved}</span> <RunStatus run={run} />
          </>
        )}
      </Step>
    )
  return (
    <Step name="approval">
      {run.approvedBy === undefined ? words.automatic : words.approvedBy(actorName(run.approvedBy))}
      {run.approvalComment === undefined ? null : <q>{run.approvalComment}</q>}
    </Step>
  )
}

const ApplyStep = ({ line: { apply, run } }: { readonly line: HistoryLine }) => {
  const words = useWords(historyWords)
  if (apply === undefined)
    return <Step name="apply">{isPlan(run.type) && run.type !== "restore" ? null : <RunStatus run={run} />}</Step>
  return (
    <Step name="apply">
      <RunLink run={apply}>{words.apply}</RunLink>
      <RunStatus run={apply} />
    </Step>
  )
}

const DriftStep = ({ line: { apply, checks } }: { readonly line: HistoryLine }) => {
  const words = useWords(historyWords)
  const check = tellingCheck(checks)
  const count = check?.driftedResources ?? 0
  return (
    <Step name="drift">
      {check !== undefined ? (
        <RunLink run={check}>
          {check.drifted !== true ? words.noDrift : count === 0 ? words.someDrift : words.drift(count)}
        </RunLink>
      ) : apply?.status === "succeeded" ? (
        <span className="muted">{words.notChecked}</span>
      ) : null}
    </Step>
  )
}

/** States that a change produced and that the Capsule can be rolled back to. */
const useRollbackTargets = (capsule: Capsule, oldest: string | undefined) => {
  const may = useMay()
  const query = useInfiniteQuery(stateVersionsQuery(capsule.id))
  const versions = query.data?.pages.flatMap(({ stateVersions }) => stateVersions) ?? []
  const reached = versions.at(-1)?.createdAt
  const { fetchNextPage, hasNextPage, isFetching } = query
  // Reads one state for each change on the page.
  const needsMore = hasNextPage && !isFetching && oldest !== undefined && reached !== undefined && reached > oldest
  useEffect(() => {
    if (needsMore) void fetchNextPage()
  }, [needsMore, fetchNextPage])
  if (!may("member") || isEnded(capsule.status)) return new Map<string, StateVersion>()
  return new Map(
    versions
      .filter(({ id, origin }) => id !== capsule.currentStateVersionId && origin !== "adopted")
      .map((version) => [version.createdByRunId, version])
  )
}

const RollbackStep = ({ version }: { readonly version: StateVersion | undefined }) => {
  const words = useWords(capsuleWords)
  const [isAsking, setAsking] = useState(false)
  return (
    <Step name="rollback">
      {version === undefined ? null : (
        <Button small of={`#${version.generation}`} onClick={() => setAsking(true)}>
          {words.rollback}
        </Button>
      )}
      {isAsking && version !== undefined ? <Rollback version={version} onClose={() => setAsking(false)} /> : null}
    </Step>
  )
}

const Lines = ({
  lines,
  targets,
  ...facts
}: CommitFacts & {
  readonly lines: ReadonlyArray<HistoryLine>
  /** Rollback targets, keyed by the Run that produced them. */
  readonly targets: ReadonlyMap<string, StateVersion>
}) => (
  <ol className="history">
    {lines.map((line) => (
      <li key={line.run.id}>
        <CommitStep run={line.run} {...facts} />
        <PlanStep run={line.run} />
        <ApprovalStep line={line} />
        <ApplyStep line={line} />
        <DriftStep line={line} />
        <RollbackStep version={targets.get(line.apply?.id ?? line.run.id)} />
        <span className="history-when muted">
          <Time at={line.apply?.finishedAt ?? line.run.createdAt} />
        </span>
      </li>
    ))}
  </ol>
)

const useHistory = (capsule: Capsule) => {
  const workspace = useWorkspace()
  const url = useQuery(sourceQuery(capsule.sourceId)).data?.url
  // A speculative plan is not part of the Capsule's history.
  const filter = { capsuleId: capsule.id, speculative: "false", view: "changes" }
  return { url, query: useInfiniteQuery(runsQuery(workspace.id, filter)) }
}

/** Number of changes that the overview shows. */
const newest = 5

/** The newest changes to a Capsule. */
export const RecentHistory = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(historyWords)
  const workspace = useWorkspace()
  const { query, url } = useHistory(capsule)
  const targets = useRollbackTargets(capsule, query.data?.pages.at(-1)?.runs.at(-1)?.createdAt)
  return (
    <Panel
      flush
      title={words.title}
      actions={
        <LinkButton
          small
          to="/w/$workspace/capsules/$capsuleId/$tab"
          params={{ workspace: workspace.handle, capsuleId: capsule.id, tab: "history" }}
        >
          {words.all}
        </LinkButton>
      }
    >
      <Loadable query={query}>
        {({ pages }) => {
          const lines = historyLines(pages[0]?.runs ?? [], pages[0]?.folded ?? [])
          return lines.length === 0 ? (
            <Empty icon="run" title={words.none} />
          ) : (
            <Lines lines={lines.slice(0, newest)} targets={targets} url={url} withAuthor={false} />
          )
        }}
      </Loadable>
    </Panel>
  )
}

/** All changes to a Capsule, one page at a time. */
export const CapsuleHistory = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(historyWords)
  const { query, url } = useHistory(capsule)
  const targets = useRollbackTargets(capsule, query.data?.pages.at(-1)?.runs.at(-1)?.createdAt)
  return (
    <>
      <Panel flush title={words.title} about={words.about}>
        <Loadable query={query}>
          {({ pages }) => {
            const lines = historyLines(
              pages.flatMap(({ runs }) => runs),
              pages.flatMap(({ folded }) => folded ?? [])
            )
            return lines.length === 0 ? (
              <Empty icon="run" title={words.none} />
            ) : (
              <Lines lines={lines} targets={targets} url={url} withAuthor />
            )
          }}
        </Loadable>
      </Panel>
      <MorePages query={query} />
    </>
  )
}
