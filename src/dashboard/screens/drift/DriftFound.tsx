import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { isInService } from "../../../../schema/records/CapsuleLifecycle.ts"
import { capsulesReconcilePlan } from "../../api/Endpoints.ts"
import { runQuery, runsQuery } from "../../api/Queries.ts"
import type { Capsule } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button, LinkButton } from "../../ui/Button.tsx"
import { FaultNotice, Notice } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { useWords } from "../../words/Words.ts"
import { ChangeRow } from "../run/ChangeRow.tsx"
import { usePlan, useAcceptance } from "../run/PlanAgain.tsx"
import { changeName } from "../run/PlanDiff.ts"
import { driftFoundWords } from "./DriftFoundWords.ts"

/** The two ways to resolve drift. Each way creates a plan. */
const DriftChoices = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(driftFoundWords)
  const may = useMay()
  const putBack = usePlan(capsule.id, capsulesReconcilePlan)
  const acceptance = useAcceptance(capsule.id)
  if (!may("member") || !isInService(capsule.status)) return null
  const isBusy = putBack.isPending || acceptance.isPending
  return (
    <>
      <ul className="drift-choices">
        <li>
          <Button small busy={putBack.isPending} disabled={isBusy} onClick={() => putBack.mutate()}>
            {words.putBack}
          </Button>
          <span>{words.putBackHelp}</span>
        </li>
        <li>
          <Button small busy={acceptance.isPending} disabled={isBusy} onClick={() => acceptance.mutate()}>
            {words.accept}
          </Button>
          <span>{words.acceptHelp}</span>
        </li>
      </ul>
      {putBack.error === null ? null : <FaultNotice error={putBack.error} />}
      {acceptance.error === null ? null : <FaultNotice error={acceptance.error} />}
    </>
  )
}

/** The ways to resolve the drift that a check found, shown on the check's page. */
export const DriftPanel = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(driftFoundWords)
  return (
    <Panel title={words.title}>
      <DriftChoices capsule={capsule} />
    </Panel>
  )
}

/** Maximum number of resources on the Capsule's page. The check lists all of them. */
const listedAtMost = 10

/** The newest check's findings, grouped by resource, and the ways to resolve them. */
export const DriftFound = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(driftFoundWords)
  const workspace = useWorkspace()
  const checks = useInfiniteQuery(
    runsQuery(workspace.id, { capsuleId: capsule.id, type: "drift_check", status: "succeeded" })
  )
  const newest = checks.data?.pages[0]?.runs[0]
  const check = useQuery({ ...runQuery(newest?.id ?? ""), enabled: newest?.drifted === true }).data
  const changes = check?.resourceDrift ?? []
  return (
    <>
      <Notice tone="warn" title={words.title}>
        <p>{changes.length === 0 ? words.foundSome : words.found(changes.length)}</p>
        <DriftChoices capsule={capsule} />
      </Notice>
      {check === undefined || changes.length === 0 ? null : (
        <Panel
          flush
          title={words.resources}
          actions={
            <LinkButton small to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: check.id }}>
              {words.openCheck}
            </LinkButton>
          }
        >
          <div className="changes" data-testid="drift">
            {changes.slice(0, listedAtMost).map((change) => (
              <ChangeRow key={changeName(change)} change={change} drift startsOpen />
            ))}
            {changes.length <= listedAtMost ? null : (
              <p className="change-about">{words.more(changes.length - listedAtMost)}</p>
            )}
          </div>
        </Panel>
      )}
    </>
  )
}
