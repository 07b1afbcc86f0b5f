import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { visibleText } from "../../../../schema/records/VisibleText.ts"
import { costQuery } from "../../api/PlanQueries.ts"
import { capsulesQuery, dependenciesQuery, outputSharesQuery, runGroupQuery } from "../../api/Queries.ts"
import type { Capsule, Run } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { DocsLink } from "../../ui/DocsPage.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { Facts, Panel } from "../../ui/Layout.tsx"
import { useLanguage, useWords } from "../../words/Words.ts"
import { impactWords } from "./ImpactWords.ts"
import { isShownOutput } from "./PlanDiff.ts"

interface OfRun {
  readonly run: Run
  readonly capsule: Capsule
}

/** Names of the Outputs that the apply changes. A destroy removes all of them. */
const changedOutputs = ({ outputChanges = [] }: Run): ReadonlyArray<string> =>
  outputChanges.filter((change) => isShownOutput(change) && change.reason === undefined).map(({ name }) => name)

const Names = ({ names }: { readonly names: ReadonlyArray<string> }) => <code>{names.map(visibleText).join(", ")}</code>

const Takers = ({ capsule, run }: OfRun) => {
  const words = useWords(impactWords)
  const workspace = useWorkspace()
  const changed = changedOutputs(run)
  const isDestroy = run.type === "destroy_plan"
  const asks = isDestroy || changed.length > 0
  const dependencies = useQuery({ ...dependenciesQuery(capsule.id), enabled: asks })
  const capsules = useQuery({ ...capsulesQuery(workspace.id), enabled: asks }).data ?? []
  const shares = useQuery({ ...outputSharesQuery(workspace.id), enabled: asks }).data ?? []
  const group = useQuery({ ...runGroupQuery(run.runGroupId ?? ""), enabled: run.runGroupId !== undefined }).data
  if (!asks) return <>{words.noOutputs}</>
  if (dependencies.error !== null) return <FaultNotice error={dependencies.error} />
  if (dependencies.data === undefined) return <>{words.loading}</>
  const waiting = new Set(
    (group?.runGroup.waves ?? []).flatMap((wave) =>
      wave.capsules.flatMap(({ capsuleId, state }) => (state === "waiting" ? [capsuleId] : []))
    )
  )
  const isTaken = (name: string) => isDestroy || changed.includes(name)
  const takers = dependencies.data
    .filter(({ producerCapsuleId }) => producerCapsuleId === capsule.id)
    .map(({ consumerCapsuleId, id, mode, outputs }) => ({
      id,
      consumerCapsuleId,
      // A consumer of the whole state may read every Output, so every changed Output affects the consumer.
      names: mode === "remote_state" ? changed : outputs.map(({ from }) => from).filter(isTaken)
    }))
    .filter(({ names }) => isDestroy || names.length > 0)
  const given = shares
    .filter((share) => share.producerCapsuleId === capsule.id && share.status === "active")
    .map(({ id, outputs }) => ({ id, names: outputs.map(({ name }) => name).filter(isTaken) }))
    .filter(({ names }) => names.length > 0)
  if (takers.length === 0 && given.length === 0) {
    return <>{isDestroy ? words.noTakersAtAll : words.noTakers(changed.map(visibleText).join(", "))}</>
  }
  return (
    <ul className="plain-list">
      {takers.map(({ consumerCapsuleId, id, names }) => {
        const consumer = capsules.find((each) => each.id === consumerCapsuleId)
        const next = isDestroy
          ? words.losesThem
          : waiting.has(consumerCapsuleId)
            ? words.plannedNext
            : words.becomesStale
        return (
          <li key={id}>
            <Link
              to="/w/$workspace/capsules/$capsuleId"
              params={{ workspace: workspace.handle, capsuleId: consumerCapsuleId }}
            >
              {consumer?.name ?? consumerCapsuleId}
            </Link>{" "}
            {consumer === undefined ? null : <span className="muted">{consumer.environment}</span>} {words.takes}{" "}
            <Names names={names} /> <span className="muted">· {next}</span>
          </li>
        )
      })}
      {given.map(({ id, names }) => (
        <li key={id}>
          {words.otherWorkspace} {words.takes} <Names names={names} />
        </li>
      ))}
    </ul>
  )
}

const SetUp = ({
  children,
  page,
  text
}: {
  readonly children: ReactNode
  readonly page: string
  readonly text: string
}) => (
  <>
    {children}{" "}
    <span className="muted">
      {text} <DocsLink page={page} />
    </span>
  </>
)

const Cost = ({ run }: Pick<OfRun, "run">) => {
  const words = useWords(impactWords)
  const language = useLanguage()
  const { data, error } = useQuery(costQuery(run.id))
  if (error !== null) return <FaultNotice error={error} />
  if (data === undefined) return <>{words.loading}</>
  const left =
    data.reasons.length === 0 ? null : (
      <ul className="plain-list muted">
        {data.reasons.map((reason) => (
          <li key={reason}>{words.costReason(reason)}</li>
        ))}
      </ul>
    )
  if (data.status === "not_available" || data.monthlyDelta === undefined || data.currency === undefined) {
    return (
      <>
        <SetUp text={words.costSetUp} page="docs/hosting.md">
          {words.noCost}
        </SetUp>
        {left}
      </>
    )
  }
  const money = new Intl.NumberFormat(language, {
    style: "currency",
    currency: data.currency,
    signDisplay: "exceptZero"
  })
  return (
    <>
      <strong>{money.format(data.monthlyDelta)}</strong>
      {left === null ? null : (
        <>
          {" "}
          <span className="muted">{words.costLeftOut}</span>
          {left}
        </>
      )}
    </>
  )
}

/** Maximum number of listed checks. Failed checks come first and are always listed. */
const checksAtMost = 8
const checkRank = { fail: 0, error: 1, unknown: 2, pass: 3 } as const

const ModuleChecks = ({ run }: Pick<OfRun, "run">) => {
  const words = useWords(impactWords)
  const checks = (run.checks ?? []).toSorted((one, other) => checkRank[one.status] - checkRank[other.status])
  if (checks.length === 0) return <span className="muted">{words.noChecks}</span>
  const shown = checks.filter(({ status }, index) => index < checksAtMost || status === "fail" || status === "error")
  return (
    <ul className="plain-list">
      {shown.map(({ address, instances, status }) => (
        <li key={address} className={`check check-${status}`}>
          <strong>{words.checkStates[status]}</strong> <code>{visibleText(address)}</code>
          {instances
            .flatMap(({ problems = [] }) => problems)
            .map((problem) => (
              <p key={problem}>{visibleText(problem)}</p>
            ))}
        </li>
      ))}
      {shown.length === checks.length ? null : (
        <li className="muted">{words.moreChecks(checks.length - shown.length)}</li>
      )}
    </ul>
  )
}

const AfterApply = ({ run }: Pick<OfRun, "run">) => {
  const words = useWords(impactWords)
  const checks = run.operatorConfig?.postApply ?? []
  return checks.length === 0 ? (
    <span className="muted">
      {words.noAfterApply} <DocsLink page="docs/operations/policy.md" />
    </span>
  ) : (
    <ul className="plain-list">
      {checks.map(({ name, path, target }) => (
        <li key={name}>
          {name} <span className="muted">{`${target}${path ?? ""}`}</span>
        </li>
      ))}
    </ul>
  )
}

/**
 * The effects of a plan beyond its own resources, and the checks of the plan. Checks that are not configured are listed as
 * well.
 */
export const Impact = ({ capsule, run }: OfRun) => {
  const words = useWords(impactWords)
  return (
    <Panel title={words.title}>
      <div className="impact" data-testid="impact">
        <Facts
          items={[
            [words.takers, <Takers key="takers" run={run} capsule={capsule} />],
            [words.cost, <Cost key="cost" run={run} />],
            [words.checks, <ModuleChecks key="checks" run={run} />],
            [words.afterApply, <AfterApply key="after" run={run} />]
          ]}
        />
      </div>
    </Panel>
  )
}
