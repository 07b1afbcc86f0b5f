import "../../app/Kit.ts"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { pullRequestQuery } from "../../api/PullRequestQueries.ts"
import { sourceQuery } from "../../api/Queries.ts"
import type { CapsuleVerdict, PullRequest } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { LoadablePage } from "../../app/LoadablePage.tsx"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Commit } from "../../ui/Commit.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { Facts, Page, Panel } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { shortCommit } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { ForgeLink } from "../pull-requests/PullRequestList.tsx"
import { PullRequestState, VerdictCounts, verdictOrder } from "../pull-requests/Verdicts.tsx"
import { pullRequestListWords } from "../pull-requests/Words.ts"
import { PlanCommit } from "./PlanCommit.tsx"
import { ReviewedModule } from "./ReviewedModule.tsx"
import { TouchedCapsules } from "./TouchedCapsules.tsx"
import { pullRequestWords } from "./Words.ts"

const noticeTones: Readonly<Record<CapsuleVerdict, "bad" | "warn" | "info" | "good">> = {
  failed: "bad",
  differs: "warn",
  needs_approval: "warn",
  planned: "info",
  planning: "info",
  refused: "info",
  superseded: "info",
  approved: "good",
  applied: "good",
  unchanged: "good"
}

/** The most urgent verdict on any Capsule, and the number of Capsules by verdict. */
const Headline = ({ pullRequest }: { readonly pullRequest: PullRequest }) => {
  const words = useWords(pullRequestWords)
  const { counts = {}, headCommit, mergeCommit, state } = pullRequest
  const worst = verdictOrder.find((verdict) => (counts[verdict] ?? 0) > 0)
  const about =
    state === "merged" && mergeCommit !== undefined
      ? words.merged(shortCommit(mergeCommit))
      : state === "closed"
        ? words.closed
        : words.ofHead(shortCommit(headCommit))
  return worst === undefined ? (
    <Notice tone="info" title={words.untouched}>
      <p>{words.untouchedText}</p>
    </Notice>
  ) : (
    <Notice tone={noticeTones[worst]} title={words.headlines[worst]}>
      <p>{about}</p>
      <p className="names">
        <VerdictCounts counts={counts} />
      </p>
    </Notice>
  )
}

const Review = ({ review }: { readonly review: PullRequest["review"] | undefined }) => {
  const words = useWords(pullRequestWords)
  return review === undefined ? (
    <Panel title={words.review}>
      <p className="muted">{words.reviewNone}</p>
    </Panel>
  ) : (
    <Panel title={words.review} about={words.reviewText(shortCommit(review.baseCommit))}>
      <div className="stack">
        {review.modules.map((module) => (
          <ReviewedModule key={module.path} module={module} />
        ))}
        {review.more === 0 ? null : <p className="muted">{words.moreModules(review.more)}</p>}
      </div>
    </Panel>
  )
}

const Sides = ({ pullRequest }: { readonly pullRequest: PullRequest }) => {
  const words = useWords(pullRequestWords)
  const workspace = useWorkspace()
  const actorName = useActorName()
  const { data: source } = useQuery(sourceQuery(pullRequest.sourceId))
  const { author, baseBranch, baseCommit, closedAt, createdAt, fork, headBranch, headCommit, lastSeenAt } = pullRequest
  const { planned, report } = pullRequest
  return (
    <Panel title={words.facts}>
      <Facts
        items={[
          [
            words.source,
            <Link
              key="source"
              to="/w/$workspace/sources/$sourceId"
              params={{ workspace: workspace.handle, sourceId: pullRequest.sourceId }}
            >
              {source?.name ?? pullRequest.sourceId}
            </Link>
          ],
          [
            words.head,
            <span key="head" className="stack">
              {headBranch === undefined ? null : <code>{headBranch}</code>}
              <Commit id={headCommit} gitAddress={source?.url} />
            </span>
          ],
          [
            words.base,
            baseBranch === undefined ? undefined : (
              <span key="base" className="stack">
                <code>{baseBranch}</code>
                {baseCommit === undefined ? null : <Commit id={baseCommit} gitAddress={source?.url} />}
              </span>
            )
          ],
          [words.author, author === undefined ? undefined : <bdi key="author">{author}</bdi>],
          [words.origin, words.forks[fork]],
          [
            words.allowed,
            planned === undefined ? undefined : (
              <span key="allowed">
                {words.allowedBy(shortCommit(planned.commit), actorName(planned.by))} <Time at={planned.at} />
              </span>
            )
          ],
          [
            words.comment,
            report?.writtenAt === undefined ? (
              source === undefined || source.forgeConnectionId !== undefined ? undefined : (
                words.noComment
              )
            ) : (
              <Time key="comment" at={report.writtenAt} />
            )
          ],
          [words.opened, <Time key="opened" at={createdAt} />],
          [words.closedAt, closedAt === undefined ? undefined : <Time key="closed" at={closedAt} />],
          [words.seen, <Time key="seen" at={lastSeenAt} />]
        ]}
      />
    </Panel>
  )
}

const Content = ({ pullRequest }: { readonly pullRequest: PullRequest }) => {
  const words = useWords(pullRequestWords)
  const list = useWords(pullRequestListWords)
  const workspace = useWorkspace()
  const may = useMay()
  const [planning, setPlanning] = useState<PullRequest | undefined>(undefined)
  const { capsules = [], draft, error, headBranch, number, report, review, state, title, url } = pullRequest
  // A person can override a refusal only if the refusal's code is `static_review`.
  const isPlannable = state === "open" && capsules.some(({ refusal }) => refusal?.code === "static_review")
  return (
    <Page
      title={`#${number} ${title ?? headBranch ?? list.untitled}`}
      heading={
        <>
          #{number} <bdi>{title ?? headBranch ?? list.untitled}</bdi>
        </>
      }
      trail={
        <Link to="/w/$workspace/pull-requests" params={{ workspace: workspace.handle }}>
          {words.trail}
        </Link>
      }
      beside={
        <>
          {draft === true ? <span className="tag">{list.draft}</span> : null}
          {pullRequest.fork === "no" ? null : <span className="tag">{list.elsewhere}</span>}
          <PullRequestState state={state} />
        </>
      }
      actions={
        <>
          {url === undefined ? null : <ForgeLink url={url} of={`#${number}`} text={words.atForge} />}
          {isPlannable && may("admin") ? (
            <Button tone="primary" icon="run" onClick={() => setPlanning(pullRequest)}>
              {words.plan}
            </Button>
          ) : null}
        </>
      }
    >
      <div className="split">
        <div className="split-main">
          {error === undefined ? null : (
            <Notice tone="bad" title={words.notRead}>
              <p lang="en">{error.message}</p>
            </Notice>
          )}
          <Headline pullRequest={pullRequest} />
          {report?.error === undefined ? null : (
            <Notice tone="warn" title={words.notReported}>
              <p>
                <span lang="en">{report.error.message}</span> {words.notReportedText}
              </p>
            </Notice>
          )}
          {capsules.length === 0 ? null : <TouchedCapsules capsules={capsules} />}
          <Review review={review} />
        </div>
        <aside className="split-side" aria-label={words.facts}>
          <Sides pullRequest={pullRequest} />
        </aside>
      </div>
      {planning === undefined ? null : <PlanCommit pullRequest={planning} onClose={() => setPlanning(undefined)} />}
    </Page>
  )
}

export const PullRequestScreen = () => {
  const { pullRequestId } = useParams({ from: "/w/$workspace/pull-requests/$pullRequestId" })
  const query = useQuery(pullRequestQuery(pullRequestId))
  return <LoadablePage query={query}>{(pullRequest) => <Content pullRequest={pullRequest} />}</LoadablePage>
}
