import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { dependenciesQuery, outputsQuery, stateVersionsQuery } from "../../api/Queries.ts"
import type { Capsule, Output, OutputChange, Run } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { LinkButton } from "../../ui/Button.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { VerbIcon } from "../../ui/VerbIcon.tsx"
import { duration, httpsLink, integer, shortCommit } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { Outputs } from "../capsule/Outputs.tsx"
import { countsOf } from "./PlanCounts.ts"
import { resultWords } from "./ResultWords.ts"

/** The generation of the state that the Run produced, if the loaded pages contain that state. */
export const useGeneration = (capsuleId: string, stateVersionId: string | undefined): number | undefined => {
  const versions = useInfiniteQuery({ ...stateVersionsQuery(capsuleId), enabled: stateVersionId !== undefined })
  return versions.data?.pages.flatMap((page) => page.stateVersions).find(({ id }) => id === stateVersionId)?.generation
}

const Counts = ({ plan }: { readonly plan: Run | undefined }) => {
  const words = useWords(resultWords)
  const language = useLanguage()
  if (plan === undefined) return null
  const counts = countsOf(plan)
  if (counts.length === 0) return <p className="muted">{words.nothing}</p>
  return (
    <ul className="counts result-counts">
      {counts.map(({ count, kind }) => (
        <li key={kind} className={`counts-${kind}`}>
          <VerbIcon verb={kind} />
          <strong>{integer(language, count)}</strong> {words.done[kind]}
        </li>
      ))}
    </ul>
  )
}

const Story = ({
  capsule,
  plan,
  run
}: {
  readonly capsule: Capsule
  readonly plan: Run | undefined
  readonly run: Run
}) => {
  const words = useWords(resultWords)
  const language = useLanguage()
  const actorName = useActorName()
  const generation = useGeneration(capsule.id, run.stateVersionId)
  const approver = plan?.approvedBy ?? run.approvedBy
  const parts = [
    run.startedAt === undefined || run.finishedAt === undefined
      ? undefined
      : words.took(duration(language, Date.parse(run.finishedAt) - Date.parse(run.startedAt))),
    generation === undefined || run.baseStateGeneration === undefined
      ? undefined
      : words.generation(run.baseStateGeneration, generation),
    approver === undefined ? words.automatic : words.approved(actorName(approver))
  ]
  return (
    <p className="result-story">
      {parts.filter((part) => part !== undefined).join(" · ")}
      {plan?.approvalComment === undefined ? null : (
        <>
          {" "}
          <q>{plan.approvalComment}</q>
        </>
      )}
    </p>
  )
}

/** The public Outputs after this apply, with the changed Outputs marked, and the names of the private Outputs. */
const ResultOutputs = ({
  capsule,
  changes,
  outputs
}: {
  readonly capsule: Capsule
  readonly changes: ReadonlyArray<OutputChange>
  readonly outputs: ReadonlyArray<Output>
}) => {
  const words = useWords(resultWords)
  const changed = new Map(
    changes.flatMap(({ actions, name }) =>
      actions.includes("create")
        ? [[name, words.created] as const]
        : actions.includes("update")
          ? [[name, words.changed] as const]
          : []
    )
  )
  const shown = new Set(outputs.map(({ name }) => name))
  const hidden = changes.filter(({ name, sensitive }) => sensitive && changed.has(name) && !shown.has(name))
  const count = outputs.filter(({ name }) => changed.has(name)).length
  return (
    <div className="result-outputs">
      <header>
        <h3>{words.outputs}</h3>
        {outputs.length === 0 ? null : <span className="count">{words.outputsChanged(count, outputs.length)}</span>}
      </header>
      {outputs.length === 0 && hidden.length === 0 ? (
        <p className="muted">{words.outputsNone}</p>
      ) : (
        <Outputs capsule={capsule} outputs={outputs} hidden={hidden.map(({ name }) => name)} marks={changed} />
      )}
    </div>
  )
}

/** Returns the first URL that people can open, taken from the Capsule's endpoint or its Outputs. */
const addressOf = (capsule: Capsule, outputs: ReadonlyArray<Output>): URL | undefined => {
  const link = [capsule.publicEndpoint, ...outputs.map(({ value }) => value)]
    .map(httpsLink)
    .find((found) => found !== undefined)
  return link === undefined ? undefined : new URL(link)
}

const Links = ({
  address,
  capsule,
  run
}: {
  readonly address: URL | undefined
  readonly capsule: Capsule
  readonly run: Run
}) => {
  const words = useWords(resultWords)
  const workspace = useWorkspace()
  const dependencies = useQuery(dependenciesQuery(capsule.id)).data ?? []
  const takers = new Set(
    dependencies
      .filter(({ producerCapsuleId }) => producerCapsuleId === capsule.id)
      .map(({ consumerCapsuleId }) => consumerCapsuleId)
  )
  const params = { workspace: workspace.handle, capsuleId: capsule.id }
  return (
    <div className="result-links">
      {address === undefined ? null : (
        <a className="button button-primary" href={address.href} target="_blank" rel="noreferrer noopener">
          {words.openAddress(address.host)}
          <Icon name="external" />
        </a>
      )}
      <LinkButton to="/w/$workspace/capsules/$capsuleId" params={params}>
        {words.openCapsule}
      </LinkButton>
      {run.planRunId === undefined ? null : (
        <LinkButton to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: run.planRunId }}>
          {words.openPlan}
        </LinkButton>
      )}
      {takers.size === 0 ? null : (
        <Link to="/w/$workspace/capsules/$capsuleId/$tab" params={{ ...params, tab: "dependencies" }}>
          {words.takers(takers.size)}
        </Link>
      )}
    </div>
  )
}

interface ApplyResultProps {
  readonly run: Run
  readonly plan: Run | undefined
  readonly capsule: Capsule
}

/** The result of a successful apply, and the next steps. */
export const ApplyResult = ({ capsule, plan, run }: ApplyResultProps) => {
  const words = useWords(resultWords)
  const isDestroy = run.type === "destroy_apply"
  const outputs = useQuery({ ...outputsQuery(capsule.id), enabled: !isDestroy }).data
  const isCurrent = capsule.currentStateVersionId === run.stateVersionId
  const own = isCurrent ? (outputs ?? []) : []
  return (
    <section className="result" aria-labelledby="result-title">
      <div className="result-head">
        <span className="result-mark" aria-hidden="true">
          <Icon name="check" />
        </span>
        <div>
          {isDestroy ? (
            <h2 id="result-title">{words.destroyed(capsule.name)}</h2>
          ) : (
            <h2 id="result-title">
              {words.applied(capsule.name)}{" "}
              {run.resolvedCommit === undefined ? null : <code>{shortCommit(run.resolvedCommit)}</code>}{" "}
              {words.appliedIn(capsule.environment)}
            </h2>
          )}
          {run.refreshOnly === true ? (
            <p className="muted">{words.accepted(run.driftedResources ?? 0)}</p>
          ) : (
            <Counts plan={plan} />
          )}
          <Story capsule={capsule} plan={plan} run={run} />
        </div>
      </div>
      {isDestroy ? null : isCurrent ? (
        outputs === undefined ? null : (
          <ResultOutputs capsule={capsule} changes={plan?.outputChanges ?? []} outputs={outputs} />
        )
      ) : (
        <p className="result-later muted">{words.outputsLater}</p>
      )}
      <Links address={isDestroy ? undefined : addressOf(capsule, own)} capsule={capsule} run={run} />
    </section>
  )
}
