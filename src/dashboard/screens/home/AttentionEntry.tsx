import { useQueryClient } from "@tanstack/react-query"
import { Link, useRouter } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import { call } from "../../api/Call.ts"
import { approvalsAsk, workspacesPlanUpdate } from "../../api/Endpoints.ts"
import { Sum } from "../../ui/Sum.tsx"
import type { AttentionItem } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button, LinkButton } from "../../ui/Button.tsx"
import { CommitLine } from "../../ui/Commit.tsx"
import { ConfirmDialog } from "../../ui/ConfirmDialog.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { Icon, type IconName } from "../../ui/Icon.tsx"
import { Time } from "../../ui/Time.tsx"
import { toast } from "../../ui/Toast.tsx"
import { failedByTool } from "../../words/FailureEvidence.ts"
import { japaneseReason } from "../../words/FailureReasons.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { credentialWords } from "../capsule/CredentialWords.ts"
import { attentionWords } from "./AttentionWords.ts"

const look: Readonly<Record<AttentionItem["kind"], readonly [IconName, string]>> = {
  unknown_safety: ["shield", "bad"],
  failed: ["cross", "bad"],
  uncertain_ground: ["warning", "bad"],
  waiting_approval: ["person", "attention"],
  approved: ["person", "attention"],
  waiting_change: ["pull", "attention"],
  waiting_credential: ["connection", "bad"],
  check_failed: ["warning", "warn"],
  update_held: ["stop", "warn"],
  lane_failed: ["source", "bad"],
  work_stuck: ["warning", "bad"],
  origins_unconfirmed: ["connection", "bad"],
  connection_expired: ["connection", "bad"],
  connection_unrenewed: ["connection", "bad"],
  connection_unrevoked: ["connection", "bad"],
  notices_stopped: ["warning", "bad"],
  automation_paused: ["shield", "warn"],
  drifted: ["warning", "warn"],
  stale: ["sync", "info"],
  update_open: ["sync", "info"],
  connection_expiring: ["connection", "warn"]
}

/** Number of names shown before "and n more". */
const mostNames = 3

interface AttentionEntryProps {
  readonly item: AttentionItem
}

const Names = ({ item: { capsules } }: AttentionEntryProps) => {
  const words = useWords(attentionWords)
  const workspace = useWorkspace()
  const more = capsules.length - mostNames
  return (
    <span className="need-names">
      {capsules.slice(0, mostNames).map(({ environment, id, name }, index) => (
        <span key={id}>
          {index === 0 ? "" : ", "}
          <Link
            to="/w/$workspace/capsules/$capsuleId"
            params={{ workspace: workspace.handle, capsuleId: id }}
            title={environment}
          >
            {name}
          </Link>
        </span>
      ))}
      {more > 0 ? ` ${words.more(more)}` : null}
    </span>
  )
}

const Title = ({ item }: AttentionEntryProps) => {
  const words = useWords(attentionWords)
  const workspace = useWorkspace()
  const { capsules, connectionName, kind, recordId, ref, run, sourceName } = item
  const [capsule] = capsules
  if (item.pullRequest !== undefined) {
    const { id, number, title } = item.pullRequest
    return (
      <span className="row-name">
        <Link
          to="/w/$workspace/pull-requests/$pullRequestId"
          params={{ workspace: workspace.handle, pullRequestId: id }}
        >
          <strong>
            #{number} <bdi>{title}</bdi>
          </strong>
        </Link>
        <Names item={item} />
      </span>
    )
  }
  if (kind === "update_open" || kind === "update_held") {
    return (
      <span className="row-name">
        <strong>{words.updating(capsules.length)}</strong> <Names item={item} />
      </span>
    )
  }
  if (capsules.length > 1) {
    return (
      <span className="row-name">
        <strong>{words.behind(capsules.length)}</strong> <Names item={item} />
      </span>
    )
  }
  if (capsule === undefined) {
    return (
      <span className="row-name">
        <strong>
          {connectionName ?? sourceName ?? item.noticeEndpointName ?? run?.id ?? recordId ?? workspace.displayName}
        </strong>
        {ref === undefined ? null : <span className="tag">{ref}</span>}
      </span>
    )
  }
  return (
    <span className="row-name">
      <Link to="/w/$workspace/capsules/$capsuleId" params={{ workspace: workspace.handle, capsuleId: capsule.id }}>
        <strong>{capsule.name}</strong>
      </Link>
      <span className="tag">{capsule.environment}</span>
      {run?.planSummary === undefined ? null : <Sum summary={run.planSummary} />}
    </span>
  )
}

const sentence = (item: AttentionItem, words: (typeof attentionWords)["en"]): string => {
  const { kind, neverApplied, run, staleReasons = [] } = item
  switch (kind) {
    case "failed":
      if (neverApplied === true && run?.type === "plan") return words.firstPlanFailed
      return run === undefined ? words.kinds.failed : words.failed[run.type]
    case "waiting_approval":
      if (run?.type === "destroy_plan") return words.destroyWaits
      return run?.type === "restore" ? words.restoreWaits : words.kinds.waiting_approval
    case "drifted":
      return run?.driftedResources === undefined ? words.kinds.drifted : words.drifted(run.driftedResources)
    case "stale":
      if (staleReasons.length === 0 || staleReasons.some((reason) => reason.kind === "commit")) return words.kinds.stale
      return staleReasons.some((reason) => reason.kind === "restore") ? words.staleRestore : words.staleInput
    case "work_stuck":
      return item.work === undefined ? words.kinds.work_stuck : `${words.stuck[item.work]}. ${words.kinds.work_stuck}`
    case "unknown_safety":
      return run !== undefined && failedByTool(run) ? words.failed[run.type] : words.kinds[kind]
    default:
      return words.kinds[kind]
  }
}

/** The reason in the person's language if a text exists, and otherwise the server's message, marked as English. */
const Reason = ({ item: { group, reason, run } }: AttentionEntryProps) => {
  const language = useLanguage()
  const error = group === "failed" || reason === undefined ? run?.error : undefined
  const translated = language === "ja" && error !== undefined ? japaneseReason(error.code) : undefined
  const text = translated ?? reason ?? error?.message
  if (text === undefined) return null
  return (
    <span className="need-reason" {...(translated === undefined && language !== "en" ? { lang: "en" } : {})}>
      {text}
    </span>
  )
}

const subjectOf = ({
  capsules: [capsule],
  connectionName,
  noticeEndpointName,
  pullRequest,
  sourceName
}: AttentionItem) =>
  pullRequest !== undefined
    ? `#${pullRequest.number}`
    : capsule === undefined
      ? (connectionName ?? sourceName ?? noticeEndpointName)
      : `${capsule.name} ${capsule.environment}`

const Action = ({ item }: AttentionEntryProps) => {
  const words = useWords(attentionWords)
  const { handle } = useWorkspace()
  const { capsules, connectionId, kind, run, runGroupId, sourceId, turn } = item
  const [capsule] = capsules
  const failed = kind === "unknown_safety" && run !== undefined && failedByTool(run)
  const of = subjectOf(item)
  const label = words.actions[failed ? "failed" : kind]
  if (kind === "automation_paused" || kind === "notices_stopped") {
    return (
      <LinkButton
        small
        of={of}
        to="/w/$workspace/settings/$tab"
        params={{ workspace: handle, tab: kind === "notices_stopped" ? "notices" : "settings" }}
      >
        {label}
      </LinkButton>
    )
  }
  if (item.pullRequest !== undefined) {
    return (
      <LinkButton
        small
        of={of}
        tone="primary"
        to="/w/$workspace/pull-requests/$pullRequestId"
        params={{ workspace: handle, pullRequestId: item.pullRequest.id }}
      >
        {label}
      </LinkButton>
    )
  }
  if (runGroupId !== undefined) {
    return (
      <LinkButton small of={of} to="/w/$workspace/updates/$groupId" params={{ workspace: handle, groupId: runGroupId }}>
        {label}
      </LinkButton>
    )
  }
  if (sourceId !== undefined) {
    return (
      <LinkButton small of={of} to="/w/$workspace/sources/$sourceId" params={{ workspace: handle, sourceId }}>
        {label}
      </LinkButton>
    )
  }
  if (connectionId !== undefined && turn === undefined) {
    return (
      <LinkButton small of={of} to="/w/$workspace/connections" params={{ workspace: handle }}>
        {label}
      </LinkButton>
    )
  }
  const opensRun = run !== undefined && turn === undefined && (failed || kind !== "unknown_safety")
  if (opensRun) {
    return (
      <LinkButton
        small
        of={of}
        tone={kind === "waiting_approval" ? "primary" : "plain"}
        to="/w/$workspace/runs/$runId"
        params={{ workspace: handle, runId: run.id }}
      >
        {label}
      </LinkButton>
    )
  }
  return capsule === undefined ? null : (
    <LinkButton
      small
      of={of}
      to="/w/$workspace/capsules/$capsuleId"
      params={{ workspace: handle, capsuleId: capsule.id }}
    >
      {label}
    </LinkButton>
  )
}

/** Asks the people who may approve a plan to do so. The server sends at most one request per hour. */
const AskApproval = ({ runId, of }: { readonly runId: string; readonly of: string | undefined }) => {
  const words = useWords(attentionWords)
  const may = useMay()
  const queryClient = useQueryClient()
  const ask = useDecision({
    send: (signal) => call(approvalsAsk, { signal, params: { runId }, body: {} }),
    onSuccess: ({ approvalRequest }) => {
      toast(words.asked(approvalRequest.asked))
      return queryClient.invalidateQueries({ queryKey: ["workspace"] })
    }
  })
  if (!may("member")) return null
  return (
    <>
      <Button small of={of} busy={ask.isPending} onClick={() => ask.mutate()}>
        {words.ask}
      </Button>
      {ask.error === null ? null : (
        <div className="need-fault">
          <FaultNotice error={ask.error} />
        </div>
      )}
    </>
  )
}

interface PlanTogetherProps {
  readonly capsuleIds: ReadonlyArray<string>
  /** True if this update would supersede an open update. */
  readonly replaces: boolean
}

/** Plans, in a single update, all Capsules that wait for the same commit. Nothing is applied without approval. */
const PlanTogether = ({ capsuleIds, replaces }: PlanTogetherProps) => {
  const words = useWords(attentionWords)
  const workspace = useWorkspace()
  const may = useMay()
  const router = useRouter()
  const queryClient = useQueryClient()
  const [asking, setAsking] = useState(false)
  const plan = useDecision({
    send: (signal) =>
      call(workspacesPlanUpdate, {
        signal,
        params: { workspaceId: workspace.id },
        body: { capsuleIds: [...capsuleIds] }
      }),
    onSuccess: ({ runGroup }) => {
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      void router.navigate({
        to: "/w/$workspace/updates/$groupId",
        params: { workspace: workspace.handle, groupId: runGroup.id }
      })
    }
  })
  if (!may("member")) return null
  return (
    <>
      <Button small busy={plan.isPending} onClick={() => (replaces ? setAsking(true) : plan.mutate())}>
        {words.planAll(capsuleIds.length)}
      </Button>
      {plan.error === null || asking ? null : (
        <div className="need-fault">
          <FaultNotice error={plan.error} />
        </div>
      )}
      {asking ? (
        <ConfirmDialog
          title={words.replaceTitle}
          action={words.replace}
          change={plan}
          onConfirm={() => plan.mutate()}
          onClose={() => setAsking(false)}
        >
          {words.replaceText}
        </ConfirmDialog>
      ) : null}
    </>
  )
}

/**
 * An entry in the list: a Capsule with all its reasons, a commit with all its Capsules, or another record in the Workspace.
 */
export const AttentionEntry = ({
  item,
  replaces,
  choice
}: AttentionEntryProps & {
  readonly replaces: boolean
  /** The checkbox that selects the plan, if it can be decided in bulk. */
  readonly choice?: ReactNode
}) => {
  const words = useWords(attentionWords)
  const turns = useWords(credentialWords).turn
  const list = new Intl.ListFormat(useLanguage(), { type: "conjunction" })
  const toolFailed = item.kind === "unknown_safety" && item.run !== undefined && failedByTool(item.run)
  const [icon, tone] = look[toolFailed ? "failed" : item.kind]
  const actorName = useActorName()
  const asked = item.run?.approvalAsked
  const asksOthers = item.kind === "waiting_approval" && item.waitsForOthers === true
  const isShared = item.kind === "stale" && item.capsules.length > 1
  return (
    <li
      className="attention-row"
      data-testid={`need-${item.pullRequest === undefined ? (item.capsules[0]?.name ?? item.kind) : item.kind}`}
    >
      {choice ?? (
        <span className={`attention-icon attention-${tone}`}>
          <Icon name={icon} />
        </span>
      )}
      <span className="need-text">
        <Title item={item} />
        <span>
          {isShared ? null : `${sentence(item, words)} · `}
          <Time at={item.since} />
          {item.turn === undefined ? null : ` · ${turns[item.turn]}`}
          {item.also.length === 0 ? null : ` · ${words.alsoIs(list.format(item.also.map((kind) => words.also[kind])))}`}
        </span>
        {item.commit === undefined ? null : <CommitLine id={item.commit.id} description={item.commit.description} />}
        <Reason item={item} />
        {asked === undefined ? null : (
          <span>
            {words.askedBy(actorName(asked.subject))} <Time at={asked.at} />
          </span>
        )}
      </span>
      {asksOthers && item.run !== undefined ? (
        <AskApproval runId={item.run.id} of={subjectOf(item)} />
      ) : isShared ? (
        <PlanTogether capsuleIds={item.capsules.map(({ id }) => id)} replaces={replaces} />
      ) : (
        <Action item={item} />
      )}
    </li>
  )
}
