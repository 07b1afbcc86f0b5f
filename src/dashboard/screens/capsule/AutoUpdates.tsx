import { isEnded } from "../../../../schema/records/CapsuleLifecycle.ts"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { call } from "../../api/Call.ts"
import { capsulesUpdate } from "../../api/Endpoints.ts"
import { capsuleQuery, decisionsQuery } from "../../api/Queries.ts"
import type { AutoUpdateDecision, Capsule } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice, Notice } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { CommitLine } from "../../ui/Commit.tsx"
import { useDecision } from "../../ui/Decision.ts"

const en = {
  pinnedTitle: "A rollback or restore holds this capsule",
  pinnedBy: (who: string) => `Applied by ${who}`,
  pinnedRun: "its run",
  pinnedUntilPerson: "Auto-update follows no commit until somebody resumes it.",
  pinnedUntilCommit: "Auto-update continues with the next new commit, or when somebody resumes it.",
  pinnedNewer: "It stays at its commit. The ref has a newer commit, which is planned only on request.",
  pinnedResume: "Resume auto-update",
  pinnedEnd: "End the hold",
  decisions: "Auto-update",
  decisionsAbout: "What it did about the newest commits.",
  decisionKinds: { taken: "Taken", waiting: "Waits for a person", skipped: "Skipped", deferred: "Later" },
  decisionReasons: {
    planned: "A plan was made.",
    applied: "It was planned, approved and applied without a person.",
    review: "Somebody has to approve and apply the plan.",
    destroys: "The plan destroys, replaces or forgets something.",
    configuration: "Nobody has applied this configuration yet.",
    pinned: "A rollback or restore holds the capsule.",
    automation_paused: "Automation of the workspace is paused.",
    lane_moved: "The ref has moved to another commit since.",
    source_stopped: "The source was disabled or stopped following its ref.",
    approval: "An approval rule requires more approvals.",
    capsule_not_ready: "The capsule's problem has to be resolved first.",
    refused: "It was refused.",
    already_applied: "This commit is what is applied.",
    planned_before: "It has already been planned.",
    queue_full: "The queue was full. It is planned as soon as there is room."
  }
}

const ja: typeof en = {
  pinnedTitle: "ロールバックまたは復元によって固定されています",
  pinnedBy: (who: string) => `適用した人: ${who}`,
  pinnedRun: "その実行",
  pinnedUntilPerson: "再開されるまで、自動更新はどのコミットにも追従しません。",
  pinnedUntilCommit: "次の新しいコミット、または再開の操作で、自動更新が再開します。",
  pinnedNewer:
    "現在のコミットに留まります。ref にはより新しいコミットがありますが、指示された場合にのみプランされます。",
  pinnedResume: "自動更新を再開",
  pinnedEnd: "固定を解除",
  decisions: "自動更新",
  decisionsAbout: "新しいコミットをどう扱ったかを示します。",
  decisionKinds: { taken: "実施", waiting: "人の対応待ち", skipped: "見送り", deferred: "保留" },
  decisionReasons: {
    planned: "プランを作成しました。",
    applied: "人の操作なしにプラン、承認、適用されました。",
    review: "プランの承認と適用が必要です。",
    destroys: "プランに削除、置き換え、管理対象からの除外が含まれます。",
    configuration: "この構成はまだ適用されたことがありません。",
    pinned: "ロールバックまたは復元によって固定されています。",
    automation_paused: "ワークスペースの自動処理が一時停止中です。",
    lane_moved: "その後、ref は別のコミットを指しています。",
    source_stopped: "ソースが無効にされたか、ref の追跡が停止されました。",
    approval: "承認ルールにより、ほかの承認が必要です。",
    capsule_not_ready: "先にカプセルの問題を解消する必要があります。",
    refused: "拒否されました。",
    already_applied: "このコミットは適用済みです。",
    planned_before: "すでにプランされています。",
    queue_full: "待機列が上限に達していました。空きしだいプランされます。"
  }
}

export const autoUpdateWords = { en, ja }

/** Information shown after a rollback: the person who pinned the Capsule, the reason, and a control that removes the pin. */
export const Pin = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(autoUpdateWords)
  const workspace = useWorkspace()
  const actorName = useActorName()
  const may = useMay()
  const queryClient = useQueryClient()
  const resume = useDecision({
    send: (signal) =>
      call(capsulesUpdate, { signal, params: { capsuleId: capsule.id }, body: { autoUpdate: { resume: true } } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: capsuleQuery(capsule.id).queryKey })
  })
  const pin = capsule.autoUpdate.pinnedBy
  // If auto-update is disabled, there is nothing to resume, and removing the pin only removes this notice.
  const isFollowing = capsule.autoUpdate.enabled
  // An ended Capsule cannot be pinned.
  if (pin === undefined || isEnded(capsule.status)) return null
  return (
    <Notice tone="warn" title={words.pinnedTitle}>
      <p>{pin.reason}</p>
      <p>
        {pin.subject === undefined ? null : <>{words.pinnedBy(actorName(pin.subject))} · </>}
        <Time at={pin.at} /> ·{" "}
        <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: pin.runId }}>
          {words.pinnedRun}
        </Link>
      </p>
      {capsule.staleReasons.some(({ kind }) => kind === "commit") ? <p>{words.pinnedNewer}</p> : null}
      {isFollowing ? <p>{pin.resumeOnNewCommit ? words.pinnedUntilCommit : words.pinnedUntilPerson}</p> : null}
      {resume.error === null ? null : <FaultNotice error={resume.error} />}
      {may("admin") ? (
        <Button small busy={resume.isPending} onClick={() => resume.mutate()}>
          {isFollowing ? words.pinnedResume : words.pinnedEnd}
        </Button>
      ) : null}
    </Notice>
  )
}

const tones: Readonly<Record<AutoUpdateDecision["decision"], StatusTone>> = {
  taken: "good",
  waiting: "attention",
  skipped: "muted",
  deferred: "neutral"
}

/** Returns the text for a reason, or the server's message if the reason is unknown. */
const reasonOf = (sentences: Readonly<Record<string, string>>, { message, reason }: AutoUpdateDecision): string =>
  sentences[reason] ?? message

/** Shows the decisions that auto-update has made about the newest snapshots. Renders nothing if there are no decisions. */
export const Decisions = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(autoUpdateWords)
  const workspace = useWorkspace()
  const { data } = useQuery(decisionsQuery(capsule.id))
  if (data === undefined || data.length === 0) return null
  return (
    <Panel flush title={words.decisions} about={words.decisionsAbout}>
      <ul className="rows">
        {data.slice(0, 5).map((decision) => (
          <li key={decision.id} className="row row-static">
            <span className="row-name row-stack">
              <span>
                <CommitLine id={decision.resolvedCommit} description={decision.commitDescription} />{" "}
                <Status tone={tones[decision.decision]}>{words.decisionKinds[decision.decision]}</Status>
              </span>
              <span className="muted">{reasonOf(words.decisionReasons, decision)}</span>
              {decision.reason === "pinned" || decision.reason === "refused" ? (
                <span className="muted" lang="en">
                  {decision.message}
                </span>
              ) : null}
            </span>
            <span className="row-end">
              {decision.runId === undefined ? (
                <Time at={decision.updatedAt} />
              ) : (
                <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: decision.runId }}>
                  <Time at={decision.updatedAt} />
                </Link>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
