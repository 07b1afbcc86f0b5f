import type { Run, RunApprovals } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useMay } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { CommitLine } from "../../ui/Commit.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { ApprovalStanding } from "./ApprovalStanding.tsx"
import { standingWords } from "./ApprovalStandingWords.ts"
import { decideWords, losesOf } from "./ApproveDialog.tsx"
import { decisionWords } from "./DecisionWords.ts"
import { PlanPurposeText } from "./PlanBasis.tsx"
import type { PlanEnd } from "./PlanEnd.ts"
import { PlanEndNotice } from "./PlanEndNotice.tsx"
import { movesOf } from "./PlanDiff.ts"
import { Counts } from "./PlanView.tsx"
import { restoreWords } from "./RestoreWords.ts"

/** The approver's comment. */
export const Comment = ({ run }: { readonly run: Run }) => {
  const words = useWords(decisionWords)
  const actorName = useActorName()
  return run.approvalComment === undefined ? null : (
    <p>
      {words.saidBy(run.approvedBy === undefined ? "svc" : actorName(run.approvedBy))} <q>{run.approvalComment}</q>
    </p>
  )
}

/** The levels at which a module has a separate file system and separate processes. */
const separateLevels: ReadonlySet<string> = new Set(["bubblewrap", "namespaces"])

/**
 * Describes the isolation of a plan. A plan has already executed somebody else's code, so its approver must see the systems that
 * the code could reach.
 */
const Confinement = ({ run }: { readonly run: Run }) => {
  const words = useWords(decisionWords)
  const isLow = run.isolation !== undefined && !separateLevels.has(run.isolation)
  const isShared = run.network === "host"
  if (!isLow && !isShared) return null
  return (
    <Notice tone="warn" title={words.confinementTitle}>
      {isLow ? <p>{words.confinementLevel}</p> : null}
      {run.isolation === "process" ? <p>{words.confinementUnbounded}</p> : null}
      {isShared ? <p>{words.confinementNetwork}</p> : null}
    </Notice>
  )
}

/** The panel for a decision. It remains visible while the person reads the plan. */
export const Review = ({
  run,
  standing,
  approved,
  end,
  endReason,
  onOpen
}: {
  readonly run: Run
  readonly standing: RunApprovals | undefined
  readonly approved: boolean
  readonly end: PlanEnd | undefined
  readonly endReason: string | undefined
  readonly onOpen: (dialog: "approve" | "discard") => void
}) => {
  const words = useWords(decisionWords)
  const standings = useWords(standingWords)
  const may = useMay()
  const actorName = useActorName()
  const lost = losesOf(run)
  const own = standing?.own.status
  const canApprove = approved || standing === undefined || standing.rules.length === 0 || own === "counts"
  const isRestore = run.type === "restore"
  const restores = useWords(restoreWords)
  const moves = movesOf(run.resourceChanges ?? [])
  const isUncounted = run.planSummary !== undefined && Object.values(run.planSummary).every((count) => count === 0)
  const empty = isUncounted && moves === 0
  const changesOutputs = (run.outputChanges ?? []).some(
    ({ actions, publication }) => publication !== undefined || actions.some((action) => action !== "no-op")
  )
  return (
    <div className={`decision${lost > 0 ? " decision-danger" : ""}`} data-testid="decision">
      <div className="decision-text">
        <h2>{approved ? words.approvedTitle : isRestore ? restores.reviewTitle : words.reviewTitle}</h2>
        <div className="decision-sum">
          {run.planSummary === undefined || empty ? null : <Counts summary={run.planSummary} moves={moves} />}
          <p>
            {approved
              ? isRestore
                ? restores.approvedText
                : words.approvedText
              : isRestore
                ? restores.reviewText
                : lost > 0
                  ? words.reviewLosses(lost)
                  : run.refreshOnly === true
                    ? words.reviewAccepts(run.resourceDrift?.length ?? 0)
                    : empty
                      ? changesOutputs
                        ? words.reviewOutputs
                        : words.reviewNoChanges
                      : isUncounted
                        ? words.reviewMoves
                        : words.reviewSafe}
          </p>
        </div>
        <PlanPurposeText run={run} />
        {run.resolvedCommit === undefined ? null : (
          <p>
            <CommitLine id={run.resolvedCommit} description={run.commitDescription} />
          </p>
        )}
        {end === undefined ? null : <PlanEndNotice run={run} end={end} reason={endReason} />}
        {standing === undefined ? null : <ApprovalStanding standing={standing} />}
        {standing?.rules.length !== 0 || approved ? null : <p className="muted">{standings.none}</p>}
        {run.approvedAt === undefined || (standing?.rules.length ?? 0) > 0 ? null : (
          <p>
            {words.approvedBy} {run.approvedBy === undefined ? "svc" : actorName(run.approvedBy)}{" "}
            <Time at={run.approvedAt} />
          </p>
        )}
        <Comment run={run} />
        <Confinement run={run} />
        {run.expiresAt === undefined || approved ? null : (
          <p className="muted">
            {words.expires} <Time at={run.expiresAt} />
          </p>
        )}
      </div>
      {may("admin") || own === "counts" ? (
        <div className="decision-actions">
          <Button
            tone={lost > 0 ? "danger" : "primary"}
            icon="check"
            data-decide="approve"
            disabled={!canApprove || end !== undefined}
            onClick={() => onOpen("approve")}
          >
            {decideWords(run, approved, words, restores)}
          </Button>
          <Button data-decide="discard" onClick={() => onOpen("discard")}>
            {approved ? words.withdraw : words.discard}
          </Button>
        </div>
      ) : (
        <div className="decision-actions">
          <p className="muted">{words.needsAdmin}</p>
          {may("member") ? (
            <Button data-decide="discard" onClick={() => onOpen("discard")}>
              {approved ? words.withdraw : words.discard}
            </Button>
          ) : null}
        </div>
      )}
    </div>
  )
}
