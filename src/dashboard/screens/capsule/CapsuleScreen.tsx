import { isInService } from "../../../../schema/records/CapsuleLifecycle.ts"
import "../../app/Kit.ts"
import { useQuery, useInfiniteQuery } from "@tanstack/react-query"
import { Link, useLocation, useParams } from "@tanstack/react-router"
import { lazy, Suspense, useEffect, useState } from "react"
import { capsulesDriftCheck } from "../../api/Endpoints.ts"
import { capsuleQuery, runsQuery } from "../../api/Queries.ts"
import { whenReachable } from "../../api/Reachability.ts"
import type { Capsule } from "../../api/Types.ts"
import { NotFound } from "../../app/Fallbacks.tsx"
import { LoadablePage } from "../../app/LoadablePage.tsx"
import { appWords } from "../../app/Words.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice, Skeleton, Empty, Loadable } from "../../ui/Feedback.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { Menu, MenuItem } from "../../ui/Menu.tsx"
import { CapsuleStatus } from "../../ui/Status.tsx"
import { Tabs } from "../../ui/Tabs.tsx"
import { useWords } from "../../words/Words.ts"
import { useLookedPlan } from "../run/UseLookedPlan.ts"
import { usePlan } from "../run/PlanAgain.tsx"
import { CapsuleHistory } from "./CapsuleHistory.tsx"
import { CapsuleOverview } from "./CapsuleOverview.tsx"
import { StateVersions } from "./StateVersions.tsx"
import { capsuleWords } from "./Words.ts"
import { MorePages } from "../../ui/MorePages.tsx"
import { RunList } from "../../app/RunList.tsx"

const CapsuleRuns = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(capsuleWords)
  const workspace = useWorkspace()
  const query = useInfiniteQuery(runsQuery(workspace.id, { capsuleId: capsule.id }))
  return (
    <>
      <Panel flush>
        <Loadable query={query}>
          {({ pages }) => {
            const runs = pages.flatMap((page) => page.runs)
            return runs.length === 0 ? <Empty icon="run" title={words.runsNone} /> : <RunList runs={runs} />
          }}
        </Loadable>
      </Panel>
      <MorePages query={query} />
    </>
  )
}

const tabs = [
  "overview",
  "resources",
  "history",
  "runs",
  "pull-requests",
  "state",
  "configuration",
  "dependencies",
  "readme",
  "activity",
  "danger"
] as const
type Tab = (typeof tabs)[number]

const isTab = (tab: string | undefined): tab is Tab => tabs.some((each) => each === tab)

const Resources = lazy(whenReachable(async () => ({ default: (await import("./Resources.tsx")).Resources })))

const CapsuleActivity = lazy(
  whenReachable(async () => ({ default: (await import("./CapsuleActivity.tsx")).CapsuleActivity }))
)

const CapsulePullRequests = lazy(
  whenReachable(async () => ({ default: (await import("./CapsulePullRequests.tsx")).CapsulePullRequests }))
)

const Configuration = lazy(
  whenReachable(async () => ({ default: (await import("./Configuration.tsx")).Configuration }))
)

const Danger = lazy(whenReachable(async () => ({ default: (await import("./Danger.tsx")).Danger })))

const Dependencies = lazy(whenReachable(async () => ({ default: (await import("./Dependencies.tsx")).Dependencies })))

const PlanRevision = lazy(whenReachable(async () => ({ default: (await import("./PlanRevision.tsx")).PlanRevision })))

const Readme = lazy(whenReachable(async () => ({ default: (await import("./Readme.tsx")).Readme })))

const Actions = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(capsuleWords)
  const may = useMay()
  const plan = useLookedPlan(capsule.id)
  const drift = usePlan(capsule.id, capsulesDriftCheck)
  const [choosing, setChoosing] = useState(false)
  // After a rollback, the newest commit is the one that was rolled back, so the page does not suggest it.
  const isHeld = capsule.autoUpdate.pinnedBy !== undefined && capsule.staleReasons.some(({ kind }) => kind === "commit")
  if (!may("member") || !isInService(capsule.status)) return null
  return (
    <>
      {plan.error === null && drift.error === null ? null : <FaultNotice error={plan.error ?? drift.error} />}
      <Menu trigger={<Button id="drift" icon="dots" aria-label={words.moreActions} title={words.moreActions} />}>
        <MenuItem
          icon="activity"
          disabled={capsule.currentStateVersionId === undefined}
          busy={drift.isPending}
          onSelect={() => drift.mutate()}
        >
          {words.driftCheck}
        </MenuItem>
        <MenuItem icon="source" onSelect={() => setChoosing(true)}>
          {words.planRef}
        </MenuItem>
      </Menu>
      <Button
        id="plan"
        tone={isHeld ? "plain" : "primary"}
        icon="run"
        busy={plan.isPending}
        onClick={() => plan.mutate()}
      >
        {isHeld ? words.planNewest : capsule.status === "stale" ? words.planUpdate : words.plan}
      </Button>
      {choosing ? (
        <Suspense fallback={null}>
          <PlanRevision capsule={capsule} onClose={() => setChoosing(false)} />
        </Suspense>
      ) : null}
    </>
  )
}

/** Focuses the element in the URL's hash but does not click it, because opening a link must not change anything. */
const useNamedFocus = () => {
  const { hash } = useLocation()
  useEffect(() => {
    const named = hash === "" ? null : document.getElementById(hash)
    named?.scrollIntoView({ block: "center" })
    named?.focus({ preventScroll: true })
  }, [hash])
}

const Content = ({ capsule, tab }: { readonly capsule: Capsule; readonly tab: Tab }) => {
  useNamedFocus()
  const words = useWords(capsuleWords)
  const app = useWords(appWords)
  const workspace = useWorkspace()
  const params = { workspace: workspace.handle, capsuleId: capsule.id }
  return (
    <Page
      title={capsule.name}
      trail={
        <Link
          to="/w/$workspace/capsules"
          params={params}
          search={{ q: undefined, status: undefined, drift: undefined }}
        >
          {app.capsules}
        </Link>
      }
      beside={
        <>
          <span className="tag">{capsule.environment}</span>
          <CapsuleStatus status={capsule.status} />
        </>
      }
      actions={<Actions capsule={capsule} />}
    >
      <Tabs
        label={words.sections}
        items={tabs.map((each) => ({
          name: words.tabs[each],
          current: each === tab,
          ...(each === "overview"
            ? { to: "/w/$workspace/capsules/$capsuleId", params }
            : { to: "/w/$workspace/capsules/$capsuleId/$tab", params: { ...params, tab: each } })
        }))}
      />
      {tab === "overview" ? <CapsuleOverview capsule={capsule} /> : null}
      {tab === "history" ? <CapsuleHistory capsule={capsule} /> : null}
      {tab === "runs" ? <CapsuleRuns capsule={capsule} /> : null}
      {tab === "state" ? <StateVersions capsule={capsule} /> : null}
      <Suspense key={tab} fallback={<Skeleton rows={8} />}>
        {tab === "resources" ? <Resources capsule={capsule} /> : null}
        {tab === "readme" ? <Readme capsule={capsule} /> : null}
        {tab === "pull-requests" ? <CapsulePullRequests capsule={capsule} /> : null}
        {tab === "configuration" ? <Configuration capsule={capsule} /> : null}
        {tab === "dependencies" ? <Dependencies capsule={capsule} /> : null}
        {tab === "activity" ? <CapsuleActivity capsule={capsule} /> : null}
        {tab === "danger" ? <Danger capsule={capsule} /> : null}
      </Suspense>
    </Page>
  )
}

export const CapsuleScreen = () => {
  const params = useParams({ strict: false })
  const query = useQuery(capsuleQuery(params.capsuleId ?? ""))
  const tab = params.tab ?? "overview"
  if (!isTab(tab)) return <NotFound />
  return <LoadablePage query={query}>{(capsule) => <Content capsule={capsule} tab={tab} />}</LoadablePage>
}
