import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { capsulesQuery } from "../../api/Queries.ts"
import type { PullRequest, PullRequestCapsule } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Panel } from "../../ui/Layout.tsx"
import { Sum } from "../../ui/Sum.tsx"
import { useWords } from "../../words/Words.ts"
import { Verdict, verdictOrder } from "../pull-requests/Verdicts.tsx"
import { pullRequestWords } from "./Words.ts"

/** Maximum number of addresses per kind of risk. The plan lists all of them. */
const mostRisks = 5

const riskKinds = ["undoes", "destroys", "replaces", "forgets"] as const

const Risks = ({ risks }: { readonly risks: NonNullable<PullRequestCapsule["risks"]> }) => {
  const words = useWords(pullRequestWords)
  return riskKinds.map((kind) => {
    const addresses = risks.filter((risk) => risk.kind === kind).map(({ address }) => address)
    const more = addresses.length - mostRisks
    return addresses.length === 0 ? null : (
      <span key={kind} className="bad-text">
        {words.risks[kind]}:{" "}
        {addresses.slice(0, mostRisks).map((address) => (
          <code key={address}>{address} </code>
        ))}
        {more > 0 ? words.more(more) : null}
      </span>
    )
  })
}

const Awaits = ({ awaits }: { readonly awaits: NonNullable<PullRequestCapsule["awaits"]> }) => {
  const words = useWords(pullRequestWords)
  return (
    <span>
      {words.awaits(
        awaits
          .map(({ approvers, role, team }) =>
            words.rule(approvers, team === undefined ? words.ofRole[role] : words.ofTeam(team))
          )
          .join(words.joined)
      )}
    </span>
  )
}

type LinkedRun = PullRequestCapsule["run"] | undefined

interface RunsProps {
  /** The name of the Capsule. */
  readonly of: string
  readonly run: LinkedRun
  readonly plan: LinkedRun
  readonly apply: LinkedRun
}

const Runs = ({ of, apply, plan, run }: RunsProps) => {
  const words = useWords(pullRequestWords)
  const workspace = useWorkspace()
  const links = [
    [words.speculative, run],
    [words.lane, plan],
    [words.apply, apply]
  ] as const
  return links.map(([name, linked]) =>
    linked === undefined ? null : (
      <Link
        key={linked.id}
        to="/w/$workspace/runs/$runId"
        params={{ workspace: workspace.handle, runId: linked.id }}
        aria-label={`${name}: ${of}`}
      >
        {name}
      </Link>
    )
  )
}

interface Named {
  readonly capsule: PullRequestCapsule
  readonly name: string
  readonly environment: string | undefined
}

const Row = ({ capsule, environment, name }: Named) => {
  const words = useWords(pullRequestWords)
  const workspace = useWorkspace()
  const { apply, awaits, because, behind, capsuleId, plan, refusal, risks, run, summary, verdict } = capsule
  return (
    <li className="row row-static" data-testid={`touched-${name}`}>
      <span className="row-name row-stack">
        <span>
          <Link to="/w/$workspace/capsules/$capsuleId" params={{ workspace: workspace.handle, capsuleId }}>
            <strong>{name}</strong>
          </Link>{" "}
          {environment === undefined ? null : <span className="tag">{environment}</span>}{" "}
          {summary === undefined ? null : <Sum summary={summary} />}
        </span>
        {risks === undefined ? null : <Risks risks={risks} />}
        {refusal === undefined ? null : <span lang="en">{refusal.message}</span>}
        {awaits === undefined ? null : <Awaits awaits={awaits} />}
        {behind === undefined || behind === 0 ? null : <span className="muted">{words.behind(behind)}</span>}
        {because === undefined ? null : (
          <span className="muted">
            {words.because} <span lang="en">{because}</span>
          </span>
        )}
      </span>
      <span className="row-end">
        <Runs run={run} plan={plan} apply={apply} of={name} />
        {verdict === undefined ? null : <Verdict verdict={verdict} />}
      </span>
    </li>
  )
}

const urgency = ({ capsule: { verdict } }: Named): number =>
  verdict === undefined ? verdictOrder.length : verdictOrder.indexOf(verdict)

/** One row for each affected Capsule, most urgent first. All unaffected Capsules share one row. */
export const TouchedCapsules = ({ capsules }: { readonly capsules: NonNullable<PullRequest["capsules"]> }) => {
  const words = useWords(pullRequestWords)
  const workspace = useWorkspace()
  const known = new Map((useQuery(capsulesQuery(workspace.id)).data ?? []).map((each) => [each.id, each]))
  const named = capsules.map((capsule): Named => {
    const record = known.get(capsule.capsuleId)
    return { capsule, name: record?.name ?? capsule.capsuleId, environment: record?.environment }
  })
  const touched = named
    .filter(({ capsule }) => capsule.touched)
    .toSorted((a, b) => urgency(a) - urgency(b) || a.name.localeCompare(b.name))
  const others = named.filter(({ capsule }) => !capsule.touched).map(({ name }) => name)
  return (
    <Panel flush title={words.capsules} about={words.capsulesText}>
      <ul className="rows">
        {touched.map((each) => (
          <Row key={each.capsule.capsuleId} {...each} />
        ))}
        {others.length === 0 ? null : (
          <li className="row row-static muted">{words.notTouched(others.join(words.joined))}</li>
        )}
      </ul>
    </Panel>
  )
}
