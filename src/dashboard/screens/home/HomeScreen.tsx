import "../../app/Kit.ts"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { lazy, Suspense } from "react"
import { needsQuery } from "../../api/AttentionQueries.ts"
import { overviewQuery } from "../../api/Queries.ts"
import { whenReachable } from "../../api/Reachability.ts"
import type { CapsuleHealth, AttentionItem } from "../../api/Types.ts"
import { ActivityList } from "../../app/ActivityList.tsx"
import { AllPlansChoice, BulkBar, PlanChoice } from "../../app/BulkBar.tsx"
import { type BulkPlan, bulkPlanOf, useChosenPlans } from "../../app/BulkPlans.ts"
import { RunList } from "../../app/RunList.tsx"
import { appWords } from "../../app/Words.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { LinkButton } from "../../ui/Button.tsx"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { integer } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { homeWords } from "./Words.ts"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { attentionGroups } from "../../../../schema/records/AttentionOrder.ts"
import { AttentionEntry } from "./AttentionEntry.tsx"
import { attentionWords } from "./AttentionWords.ts"

type Counts = Readonly<Record<AttentionItem["group"], number>>

interface AttentionListProps {
  /** Most urgent first, from the pages read so far. */
  readonly items: ReadonlyArray<AttentionItem>
  /** Counted across all pages. */
  readonly counts: Counts
  /** The list's title, which distinguishes the groups in this list from groups with the same name in other lists. */
  readonly title: string
}

const totalOf = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** The counts of the entries that the person can act on. */
const ownCounts = ({ counts, forOthers }: { readonly counts: Counts; readonly forOthers: Counts }): Counts => ({
  failed: counts.failed - forOthers.failed,
  decision: counts.decision - forOthers.decision,
  blocked: counts.blocked - forOthers.blocked,
  drifted: counts.drifted - forOthers.drifted,
  update: counts.update - forOthers.update,
  expiring: counts.expiring - forOthers.expiring
})

const bulkPlanOfItem = ({ capsules, kind, run }: AttentionItem): BulkPlan | undefined =>
  kind === "waiting_approval" && run !== undefined ? bulkPlanOf(run, capsules[0]) : undefined

const AttentionList = ({ counts, items, title }: AttentionListProps) => {
  const words = useWords(attentionWords)
  const may = useMay()
  const replaces = items.some(({ kind }) => kind === "update_open" || kind === "update_held")
  const offered = items.flatMap((item) => (may("member") ? (bulkPlanOfItem(item) ?? []) : []))
  const plans = useChosenPlans(offered)
  return (
    <div>
      {attentionGroups.map((group) => {
        const own = items.filter((item) => item.group === group)
        return own.length === 0 ? null : (
          <section key={group} className="need-group" aria-label={`${title}: ${words.groups[group]}`}>
            <h3>
              {words.groups[group]} <span>{counts[group]}</span>
            </h3>
            {group === "decision" && offered.length > 1 ? (
              <div className="need-choice">
                <AllPlansChoice plans={plans} />
              </div>
            ) : null}
            <ul className="attention">
              {own.map((item) => {
                const plan = offered.find(({ runId }) => runId === item.run?.id)
                return (
                  <AttentionEntry
                    key={item.key}
                    item={item}
                    replaces={replaces}
                    choice={plan === undefined ? undefined : <PlanChoice plan={plan} plans={plans} />}
                  />
                )
              })}
            </ul>
          </section>
        )
      })}
      <BulkBar plans={plans} />
    </div>
  )
}

const parts = ["healthy", "unchecked", "waiting", "notApplied", "failed", "disabled"] as const

const tones: Readonly<Record<(typeof parts)[number], StatusTone>> = {
  healthy: "good",
  unchecked: "muted",
  waiting: "attention",
  notApplied: "neutral",
  failed: "bad",
  disabled: "muted"
}

/** Counts every Capsule once, by its most urgent reason. */
const Health = ({ health }: { readonly health: CapsuleHealth }) => {
  const words = useWords(homeWords)
  const language = useLanguage()
  const shown = parts.filter((part) => health[part] > 0)
  return (
    <div className="health">
      <div className="health-bar" aria-hidden="true">
        {shown.map((part) => (
          <i key={part} className={`health-${tones[part]}`} style={{ flexGrow: health[part] }} />
        ))}
      </div>
      <dl>
        {shown.map((part) => (
          <div key={part}>
            <dt>
              <Status tone={tones[part]}>{words.health[part]}</Status>
            </dt>
            <dd>{integer(language, health[part])}</dd>
          </div>
        ))}
      </dl>
      {health.complete ? null : <p className="muted">{words.incomplete(health.capsules)}</p>}
    </div>
  )
}

const TrySample = lazy(whenReachable(async () => ({ default: (await import("../install/TrySample.tsx")).TrySample })))

const FirstSteps = () => {
  const words = useWords(homeWords)
  const app = useWords(appWords)
  return (
    <Panel>
      <Empty
        icon="capsule"
        title={words.emptyTitle}
        action={
          <LinkButton tone="primary" icon="plus" to="/new">
            {app.install}
          </LinkButton>
        }
      >
        <p>{words.emptyText}</p>
        <ol className="first-steps">
          {words.steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        <Suspense fallback={null}>
          <TrySample />
        </Suspense>
      </Empty>
    </Panel>
  )
}

/**
 * Returns true only if everything is known to be healthy: every Capsule has been applied and checked, and no check found a
 * difference.
 */
const allIsWell = ({ capsules, complete, healthy }: CapsuleHealth): boolean => complete && healthy === capsules

/** Shown if nothing needs attention. Lists the Capsules that have not been checked. */
const NothingOpen = ({ health }: { readonly health: CapsuleHealth }) => {
  const words = useWords(homeWords)
  return (
    <div className="quiet">
      <Icon name="check" />
      <p>
        <strong>{words.attentionNone}</strong>{" "}
        {allIsWell(health)
          ? words.allIsWell
          : health.unchecked > 0
            ? words.uncheckedText(health.unchecked)
            : words.attentionNoneText}
      </p>
    </div>
  )
}

const useAttention = () => {
  const workspace = useWorkspace()
  const query = useInfiniteQuery(needsQuery(workspace.id))
  const [first] = query.data?.pages ?? []
  return { query, first, items: (query.data?.pages ?? []).flatMap((page) => page.needs) }
}

const Content = () => {
  const words = useWords(homeWords)
  const workspace = useWorkspace()
  const params = { workspace: workspace.handle }
  const overview = useQuery(overviewQuery(workspace.id))
  const { first, items, query } = useAttention()
  const isNew =
    first !== undefined &&
    first.total === 0 &&
    first.health.capsules === 0 &&
    overview.data !== undefined &&
    overview.data.capsules.length === 0 &&
    overview.data.recentRuns.length === 0
  if (isNew) return <FirstSteps />
  return (
    <div className="home">
      <div className="home-main">
        <Panel
          flush
          title={words.attention}
          beside={
            <span className="muted">{first === undefined || totalOf(ownCounts(first)) === 0 ? null : words.order}</span>
          }
        >
          <Loadable query={query} skeleton={<Skeleton rows={4} />}>
            {() =>
              first === undefined ? null : totalOf(ownCounts(first)) === 0 ? (
                <NothingOpen health={first.health} />
              ) : (
                <>
                  <AttentionList
                    title={words.attention}
                    items={items.filter(({ waitsForOthers }) => waitsForOthers !== true)}
                    counts={ownCounts(first)}
                  />
                  {items.some(({ waitsForOthers }) => waitsForOthers === true) ? null : <MorePages query={query} />}
                </>
              )
            }
          </Loadable>
        </Panel>
        {first === undefined || totalOf(first.forOthers) === 0 ? null : (
          <Panel flush title={words.others} about={words.othersText}>
            <AttentionList
              title={words.others}
              items={items.filter(({ waitsForOthers }) => waitsForOthers === true)}
              counts={first.forOthers}
            />
            {items.some(({ waitsForOthers }) => waitsForOthers === true) ? <MorePages query={query} /> : null}
          </Panel>
        )}
        <Panel
          flush
          title={words.recent}
          actions={
            <Link to="/w/$workspace/runs" params={params} search={{ status: undefined, type: undefined }}>
              {words.allRuns}
            </Link>
          }
        >
          <Loadable query={overview} skeleton={<Skeleton rows={6} />}>
            {({ capsules, recentRuns }) => <RunList runs={recentRuns.slice(0, 8)} capsules={capsules} />}
          </Loadable>
        </Panel>
      </div>
      <div className="home-side">
        <Panel
          title={words.capsules}
          actions={
            <Link
              to="/w/$workspace/capsules"
              params={params}
              search={{ q: undefined, status: undefined, drift: undefined }}
            >
              {words.allCapsules}
            </Link>
          }
        >
          {first === undefined ? <Skeleton rows={3} /> : <Health health={first.health} />}
        </Panel>
        <Panel
          flush
          title={words.activity}
          actions={
            <Link to="/w/$workspace/activity" params={params}>
              {words.allActivity}
            </Link>
          }
        >
          <Loadable query={overview} skeleton={<Skeleton rows={6} />}>
            {({ activity }) => <ActivityList events={activity.slice(0, 6)} detailed />}
          </Loadable>
        </Panel>
      </div>
    </div>
  )
}

/** A Capsule that was never checked for drift is not unhealthy. The page counts and lists such a Capsule. */
const aboutHealth = ({ capsules, healthy, unchecked }: CapsuleHealth, words: (typeof homeWords)["en"]): string =>
  [words.asConfigured(healthy + unchecked, capsules), ...(unchecked === 0 ? [] : [words.neverChecked(unchecked)])].join(
    " "
  )

export const HomeScreen = () => {
  const words = useWords(homeWords)
  const workspace = useWorkspace()
  const { first } = useAttention()
  const title =
    first === undefined
      ? words.title
      : totalOf(ownCounts(first)) > 0
        ? words.needYou(totalOf(ownCounts(first)))
        : first.total === 0 && first.health.capsules > 0 && allIsWell(first.health)
          ? words.allAsConfigured
          : words.title
  const about = first === undefined || first.health.capsules === 0 ? undefined : aboutHealth(first.health, words)
  return (
    <Page title={title} documentTitle={workspace.displayName} about={about}>
      <Content />
    </Page>
  )
}
