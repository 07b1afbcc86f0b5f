import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { Sum } from "../../ui/Sum.tsx"
import type { Need } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { LinkButton } from "../../ui/Button.tsx"
import { CommitLine } from "../../ui/Commit.tsx"
import { Icon, type IconName } from "../../ui/Icon.tsx"
import { Time } from "../../ui/Time.tsx"
import { failedByTool } from "../../words/FailureEvidence.ts"
import { japaneseReason } from "../../words/FailureReasons.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { credentialWords } from "../capsule/CredentialWords.ts"
import { AskApproval } from "./AskApproval.tsx"
import { needWords } from "./NeedWords.ts"
import { PlanTogether } from "./PlanTogether.tsx"

const look: Readonly<Record<Need["kind"], readonly [IconName, string]>> = {
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

interface NeedProps {
  readonly need: Need
}

const Names = ({ need: { capsules } }: NeedProps) => {
  const words = useWords(needWords)
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

const Title = ({ need }: NeedProps) => {
  const words = useWords(needWords)
  const workspace = useWorkspace()
  const { capsules, connectionName, kind, recordId, ref, run, sourceName } = need
  const [capsule] = capsules
  if (need.pullRequest !== undefined) {
    const { id, number, title } = need.pullRequest
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
        <Names need={need} />
      </span>
    )
  }
  if (kind === "update_open" || kind === "update_held") {
    return (
      <span className="row-name">
        <strong>{words.updating(capsules.length)}</strong> <Names need={need} />
      </span>
    )
  }
  if (capsules.length > 1) {
    return (
      <span className="row-name">
        <strong>{words.behind(capsules.length)}</strong> <Names need={need} />
      </span>
    )
  }
  if (capsule === undefined) {
    return (
      <span className="row-name">
        <strong>
          {connectionName ?? sourceName ?? need.noticeEndpointName ?? run?.id ?? recordId ?? workspace.displayName}
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

const sentence = (need: Need, words: (typeof needWords)["en"]): string => {
  const { kind, neverApplied, run, staleReasons = [] } = need
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
      return need.work === undefined ? words.kinds.work_stuck : `${words.stuck[need.work]}. ${words.kinds.work_stuck}`
    case "unknown_safety":
      return run !== undefined && failedByTool(run) ? words.failed[run.type] : words.kinds[kind]
    default:
      return words.kinds[kind]
  }
}

/** The reason in the person's language if a text exists, and otherwise the server's message, marked as English. */
const Reason = ({ need: { group, reason, run } }: NeedProps) => {
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

const subjectOf = ({ capsules: [capsule], connectionName, noticeEndpointName, pullRequest, sourceName }: Need) =>
  pullRequest !== undefined
    ? `#${pullRequest.number}`
    : capsule === undefined
      ? (connectionName ?? sourceName ?? noticeEndpointName)
      : `${capsule.name} ${capsule.environment}`

const Action = ({ need }: NeedProps) => {
  const words = useWords(needWords)
  const { handle } = useWorkspace()
  const { capsules, connectionId, kind, run, runGroupId, sourceId, turn } = need
  const [capsule] = capsules
  const failed = kind === "unknown_safety" && run !== undefined && failedByTool(run)
  const of = subjectOf(need)
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
  if (need.pullRequest !== undefined) {
    return (
      <LinkButton
        small
        of={of}
        tone="primary"
        to="/w/$workspace/pull-requests/$pullRequestId"
        params={{ workspace: handle, pullRequestId: need.pullRequest.id }}
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

/**
 * An entry in the list: a Capsule with all its reasons, a commit with all its Capsules, or another record in the Workspace.
 */
export const NeedEntry = ({
  need,
  replaces,
  choice
}: NeedProps & {
  readonly replaces: boolean
  /** The checkbox that selects the plan, if it can be decided in bulk. */
  readonly choice?: ReactNode
}) => {
  const words = useWords(needWords)
  const turns = useWords(credentialWords).turn
  const list = new Intl.ListFormat(useLanguage(), { type: "conjunction" })
  const toolFailed = need.kind === "unknown_safety" && need.run !== undefined && failedByTool(need.run)
  const [icon, tone] = look[toolFailed ? "failed" : need.kind]
  const actorName = useActorName()
  const asked = need.run?.approvalAsked
  const asksOthers = need.kind === "waiting_approval" && need.waitsForOthers === true
  const isShared = need.kind === "stale" && need.capsules.length > 1
  return (
    <li
      className="attention-row"
      data-testid={`need-${need.pullRequest === undefined ? (need.capsules[0]?.name ?? need.kind) : need.kind}`}
    >
      {choice ?? (
        <span className={`attention-icon attention-${tone}`}>
          <Icon name={icon} />
        </span>
      )}
      <span className="need-text">
        <Title need={need} />
        <span>
          {isShared ? null : `${sentence(need, words)} · `}
          <Time at={need.since} />
          {need.turn === undefined ? null : ` · ${turns[need.turn]}`}
          {need.also.length === 0 ? null : ` · ${words.alsoIs(list.format(need.also.map((kind) => words.also[kind])))}`}
        </span>
        {need.commit === undefined ? null : <CommitLine id={need.commit.id} description={need.commit.description} />}
        <Reason need={need} />
        {asked === undefined ? null : (
          <span>
            {words.askedBy(actorName(asked.subject))} <Time at={asked.at} />
          </span>
        )}
      </span>
      {asksOthers && need.run !== undefined ? (
        <AskApproval runId={need.run.id} of={subjectOf(need)} />
      ) : isShared ? (
        <PlanTogether capsuleIds={need.capsules.map(({ id }) => id)} replaces={replaces} />
      ) : (
        <Action need={need} />
      )}
    </li>
  )
}
