import "../../app/Kit.ts"
import { LoadablePage } from "../../app/LoadablePage.tsx"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { lazy, Suspense, useState } from "react"
import { capsuleQuery, runQuery } from "../../api/Queries.ts"
import { whenReachable } from "../../api/Reachability.ts"
import type { Capsule, Run, RunEvent } from "../../api/Types.ts"
import { handOffOf } from "../../app/HandOffs.ts"
import { appWords } from "../../app/Words.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Skeleton } from "../../ui/Feedback.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { RunStatus } from "../../ui/Status.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords, useLanguage } from "../../words/Words.ts"
import { CancelDialog } from "./CancelDialog.tsx"
import { Decision } from "./Decision.tsx"
import { decisionWords } from "./DecisionWords.ts"
import { useHasLook } from "./UseLookedPlan.ts"
import { logWords } from "./LogWords.ts"
import { expectedOf, type Step, stepsOf } from "./Phases.ts"
import { PlanView } from "./PlanView.tsx"
import { useRunEvents } from "./Streams.ts"
import { useRunNotice } from "./UseRunNotice.ts"
import { ExplainedPlan, Why } from "./Why.tsx"
import { runWords } from "./Words.ts"
import { setPreferences } from "../../preferences/Preferences.ts"
import { usePreferences } from "../../preferences/UsePreferences.ts"
import { noticeWords } from "./NoticeWords.ts"
import { Icon } from "../../ui/Icon.tsx"
import { useNow } from "../../ui/Time.tsx"
import { duration } from "../../words/Format.ts"

const Mark = ({ step }: { readonly step: Step }) => {
  if (step.state === "done") return <Icon name="check" />
  if (step.state === "failed") return <Icon name="cross" />
  if (step.state === "waiting") return <Icon name="person" />
  return null
}

const isStep = (id: string, names: Readonly<Record<string, string>>): string => names[id] ?? id

const Took = ({ step }: { readonly step: Step }) => {
  const language = useLanguage()
  const now = useNow(1000)
  if (step.startedAt === undefined || step.state === "skipped") return null
  const end =
    step.finishedAt === undefined
      ? step.state === "active" || step.state === "waiting"
        ? now
        : undefined
      : Date.parse(step.finishedAt)
  return end === undefined ? null : (
    <span className="step-took">{duration(language, end - Date.parse(step.startedAt))}</span>
  )
}

const Timeline = ({ run, events }: { readonly run: Run; readonly events: ReadonlyArray<RunEvent> }) => {
  const words = useWords(runWords)
  return (
    <ol className="timeline" aria-label={words.timeline}>
      {stepsOf(run, events).map((step) => (
        <li
          key={step.id}
          className={`step step-${step.state}`}
          aria-current={step.state === "active" || step.state === "waiting" ? "step" : undefined}
        >
          <span className="step-mark" aria-hidden="true">
            <Mark step={step} />
          </span>
          <span className="step-name">{isStep(step.id, words.steps)}</span>
          <span className="visually-hidden">: {words.stepStates[step.state]}</span>
          <Took step={step} />
        </li>
      ))}
    </ol>
  )
}

/** Requests the browser's permission only after the person has asked for notifications here. */
const NotifyButton = () => {
  const words = useWords(noticeWords)
  const { runNotices } = usePreferences()
  const [refused, setRefused] = useState(false)
  if (!("Notification" in window)) return null
  const isOn = runNotices && Notification.permission === "granted"
  const toggle = async () => {
    if (isOn) return setPreferences({ runNotices: false })
    const permission = await Notification.requestPermission()
    setRefused(permission !== "granted")
    setPreferences({ runNotices: permission === "granted" })
  }
  return (
    <>
      <Button aria-pressed={isOn} title={words.notifyHelp} onClick={() => void toggle()}>
        {words.notify}
      </Button>
      {refused ? <output className="muted">{words.refused}</output> : null}
    </>
  )
}

// Loaded lazily, so that decisions load first, and then the log.
const ApplyResult = lazy(whenReachable(async () => ({ default: (await import("./ApplyResult.tsx")).ApplyResult })))
const PaperActions = lazy(whenReachable(async () => ({ default: (await import("./Paper.tsx")).PaperActions })))
const Impact = lazy(whenReachable(async () => ({ default: (await import("./Impact.tsx")).Impact })))
const RestoreView = lazy(whenReachable(async () => ({ default: (await import("./RestoreView.tsx")).RestoreView })))
const ChangeReview = lazy(whenReachable(async () => ({ default: (await import("./ChangeReview.tsx")).ChangeReview })))
const Discussion = lazy(whenReachable(async () => ({ default: (await import("./Discussion.tsx")).Discussion })))
const AgentStanding = lazy(
  whenReachable(async () => ({ default: (await import("./AgentStanding.tsx")).AgentStanding }))
)
const Diagnosis = lazy(whenReachable(async () => ({ default: (await import("./Diagnosis.tsx")).Diagnosis })))
const DriftPanel = lazy(whenReachable(async () => ({ default: (await import("../drift/DriftFound.tsx")).DriftPanel })))
const HandOffReturn = lazy(
  whenReachable(async () => ({ default: (await import("./HandOffReturn.tsx")).HandOffReturn }))
)
const Progress = lazy(whenReachable(async () => ({ default: (await import("./Progress.tsx")).Progress })))
const OrphanedStateList = lazy(
  whenReachable(async () => ({ default: (await import("../left-over/OrphanedStateList.tsx")).OrphanedStateList }))
)
const LookNotice = lazy(whenReachable(async () => ({ default: (await import("./LookNotice.tsx")).LookNotice })))
const PlannedRef = lazy(whenReachable(async () => ({ default: (await import("./PlannedRef.tsx")).PlannedRef })))
const RunFacts = lazy(whenReachable(async () => ({ default: (await import("./RunFacts.tsx")).RunFacts })))
const LogView = lazy(whenReachable(async () => ({ default: (await import("./LogView.tsx")).LogView })))

// A drift check shows differences but no actions.
const showsPlan = (run: Run): boolean =>
  run.type === "drift_check"
    ? run.resourceDrift !== undefined || run.drifted !== undefined
    : (run.type === "plan" || run.type === "destroy_plan") &&
      (run.resourceChanges !== undefined || run.planSummary !== undefined)

const endReasonOf = (events: ReadonlyArray<RunEvent>): string | undefined => {
  const reason = events.findLast((event) => event.kind === "run.superseded" || event.kind === "run.cancelled")?.data
    .reason
  return typeof reason === "string" ? reason : undefined
}

/** A placeholder as large as the log. */
const LogPlace = () => {
  const words = useWords(logWords)
  return (
    <Panel flush title={words.log}>
      <div className="log-frame">
        <div className="log" />
      </div>
    </Panel>
  )
}

/** A placeholder for the facts, which load after all data that a decision needs. */
const FactsPlace = () => {
  const words = useWords(runWords)
  return (
    <Panel title={words.facts}>
      <Skeleton rows={8} />
    </Panel>
  )
}

const RunContent = ({ run, capsule }: { readonly run: Run; readonly capsule: Capsule | undefined }) => {
  const words = useWords(runWords)
  const terms = useWords(vocabulary)
  const decisions = useWords(decisionWords)
  const app = useWords(appWords)
  const [cameByHandOff] = useState(() => run.capsuleId !== undefined && handOffOf(run.capsuleId, run.id) !== undefined)
  const workspace = useWorkspace()
  const may = useMay()
  const { events } = useRunEvents(run.id)
  const { data: plan } = useQuery({
    ...runQuery(run.planRunId ?? ""),
    enabled: run.planRunId !== undefined,
    staleTime: Number.POSITIVE_INFINITY
  })
  const [cancelling, setCancelling] = useState(false)
  const hasLook = useHasLook(run.id)
  const isApply = run.type === "apply" || run.type === "destroy_apply"
  const explains = run.type === "plan" && run.resourceChanges !== undefined && run.resourceChanges.length > 0
  const drift = run.type === "drift_check" ? "check" : run.refreshOnly === true && !isApply ? "accept" : undefined
  const decides = run.status === "waiting_approval" && run.type !== "restore"
  const busy = run.status === "queued" || run.status === "running"
  const cancelAsked = events.some(({ kind }) => kind === "run.cancelling")
  const type = run.speculative === true ? terms.speculativePlan : terms.runType[run.type]
  const title = capsule === undefined ? type : `${type} · ${capsule.name}`
  const documentTitle = useRunNotice(run, events, expectedOf(plan), title)
  return (
    <Page
      title={title}
      documentTitle={documentTitle}
      trail={
        capsule === undefined ? (
          <Link
            to="/w/$workspace/runs"
            params={{ workspace: workspace.handle }}
            search={{ status: undefined, type: undefined }}
          >
            {app.runs}
          </Link>
        ) : (
          <>
            <Link
              to="/w/$workspace/capsules"
              params={{ workspace: workspace.handle }}
              search={{ q: undefined, status: undefined, drift: undefined }}
            >
              {app.capsules}
            </Link>
            <span aria-hidden="true">/</span>
            <Link
              to="/w/$workspace/capsules/$capsuleId"
              params={{ workspace: workspace.handle, capsuleId: capsule.id }}
            >
              {capsule.name}
            </Link>
          </>
        )
      }
      beside={
        <>
          {capsule === undefined ? null : <span className="tag">{capsule.environment}</span>}
          <RunStatus run={run} />
        </>
      }
      actions={
        busy ? (
          <>
            <NotifyButton />
            {!cancelAsked && may("member") ? (
              <Button icon="stop" onClick={() => setCancelling(true)}>
                {decisions.cancel}
              </Button>
            ) : null}
          </>
        ) : showsPlan(run) || run.restore !== undefined ? (
          <Suspense fallback={null}>
            <PaperActions run={run} capsule={capsule} />
          </Suspense>
        ) : null
      }
    >
      <Timeline run={run} events={events} />
      <div className="split">
        <div className="split-main">
          {hasLook ? (
            <Suspense fallback={null}>
              <LookNotice runId={run.id} />
            </Suspense>
          ) : null}
          {run.agent !== undefined && run.status === "running" ? (
            <Suspense fallback={null}>
              <AgentStanding run={run} capsule={capsule} />
            </Suspense>
          ) : null}
          <Suspense fallback={run.status === "failed" ? <Skeleton rows={4} /> : null}>
            <Diagnosis run={run} capsule={capsule} events={events} plan={plan} />
          </Suspense>
          {isApply && run.status === "succeeded" && capsule !== undefined ? (
            <Suspense fallback={<Skeleton rows={4} />}>
              <ApplyResult run={run} plan={plan} capsule={capsule} />
            </Suspense>
          ) : null}
          {run.speculative === true || run.base !== undefined ? (
            <Suspense fallback={null}>
              <PlannedRef run={run} />
            </Suspense>
          ) : null}
          <Decision run={run} capsule={capsule} cancelling={cancelAsked} endReason={endReasonOf(events)} />
          {(run.speculative === true && run.status === "succeeded") ||
          run.carriedFrom !== undefined ||
          run.differsFrom !== undefined ? (
            <Suspense fallback={null}>
              <ChangeReview run={run} />
            </Suspense>
          ) : null}
          {capsule !== undefined && !busy && isApply ? (
            <Suspense fallback={null}>
              <OrphanedStateList capsule={capsule} runId={run.id} />
            </Suspense>
          ) : null}
          {cameByHandOff ? (
            <Suspense fallback={null}>
              <HandOffReturn run={run} />
            </Suspense>
          ) : null}
          {isApply ? (
            <Suspense fallback={<Skeleton rows={4} />}>
              <Progress
                events={events}
                plan={plan}
                running={run.status === "running"}
                lost={run.error?.code === "agent_lost"}
              />
            </Suspense>
          ) : null}
          {run.restore === undefined ? null : (
            <Suspense fallback={<Skeleton rows={3} />}>
              <RestoreView restore={run.restore} />
            </Suspense>
          )}
          {drift === "check" && run.drifted === true && capsule?.driftStatus === "drifted" ? (
            <Suspense fallback={<Skeleton rows={3} />}>
              <DriftPanel capsule={capsule} />
            </Suspense>
          ) : null}
          {decides && capsule !== undefined ? (
            <Suspense fallback={<Skeleton rows={4} />}>
              <Impact run={run} capsule={capsule} />
            </Suspense>
          ) : null}
          {explains ? <Why runId={run.id} /> : null}
          {showsPlan(run) ? (
            <ExplainedPlan value={explains ? run.id : undefined}>
              <PlanView
                changes={(drift === undefined ? undefined : run.resourceDrift) ?? run.resourceChanges ?? []}
                outputs={run.outputChanges ?? []}
                summary={run.status === "waiting_approval" || drift === "accept" ? undefined : run.planSummary}
                drift={drift}
              />
            </ExplainedPlan>
          ) : null}
          <Suspense fallback={<LogPlace />}>
            <LogView runId={run.id} running={busy} queued={run.status === "queued"} removedAt={run.logRemovedAt} />
          </Suspense>
          <Suspense fallback={null}>
            <Discussion run={run} events={events} />
          </Suspense>
        </div>
        <aside className="split-side" aria-label={words.facts}>
          <Suspense fallback={<FactsPlace />}>
            <RunFacts run={run} capsule={capsule} />
          </Suspense>
        </aside>
      </div>
      {cancelling ? <CancelDialog run={run} onClose={() => setCancelling(false)} /> : null}
    </Page>
  )
}

const WithCapsule = ({ run, capsuleId }: { readonly run: Run; readonly capsuleId: string }) => {
  const { data: capsule, isPending } = useQuery(capsuleQuery(capsuleId))
  // Waits for the name, because the title should not change while somebody reads it.
  return isPending ? <RunSkeleton /> : <RunContent run={run} capsule={capsule} />
}

const RunSkeleton = () => (
  <div className="page">
    <Skeleton rows={1} height="line" />
    <Skeleton rows={1} height="block" />
    <Skeleton rows={6} />
  </div>
)

export const RunScreen = () => {
  const { runId } = useParams({ from: "/w/$workspace/runs/$runId" })
  const query = useQuery({
    ...runQuery(runId),
    // Polls slowly, because events update the Run; polling matters only if no stream can be opened.
    refetchInterval: ({ state }) =>
      state.data?.status === "queued" || state.data?.status === "running" ? 10_000 : false
  })
  return (
    <LoadablePage query={query} skeleton={<RunSkeleton />}>
      {(run) =>
        run.capsuleId === undefined ? (
          <RunContent key={run.id} run={run} capsule={undefined} />
        ) : (
          <WithCapsule key={run.id} run={run} capsuleId={run.capsuleId} />
        )
      }
    </LoadablePage>
  )
}
