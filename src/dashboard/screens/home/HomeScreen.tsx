import "../../app/Kit.ts"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { overviewQuery } from "../../api/Queries.ts"
import type { AttentionItem, Capsule, Overview, Run } from "../../api/Types.ts"
import { ActivityList } from "../../app/ActivityList.tsx"
import { RunList } from "../../app/RunList.tsx"
import { useWorkspace } from "../../app/Workspace.ts"
import { LinkButton } from "../../ui/Button.tsx"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Icon, type IconName } from "../../ui/Icon.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { CapsuleStatus } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { appWords } from "../../app/Words.ts"
import { credentialWords } from "../capsule/CredentialWords.ts"
import { homeWords } from "./Words.ts"

const look: Readonly<Record<AttentionItem["kind"], readonly [IconName, string]>> = {
  waiting_approval: ["person", "attention"],
  approved: ["person", "attention"],
  update_open: ["sync", "info"],
  failed: ["warning", "bad"],
  drifted: ["activity", "warn"],
  stale: ["sync", "info"],
  unknown_safety: ["shield", "bad"],
  lane_failed: ["source", "bad"],
  automation_paused: ["shield", "warn"],
  origins_unconfirmed: ["connection", "bad"],
  connection_expiring: ["connection", "warn"],
  connection_expired: ["connection", "bad"],
  connection_unrenewed: ["connection", "bad"],
  connection_unrevoked: ["connection", "bad"],
  waiting_credential: ["connection", "bad"]
}

/** Where it is unknown what exists, the failure goes without saying. */
const oncePerCause = (items: ReadonlyArray<AttentionItem>): ReadonlyArray<AttentionItem> => {
  const uncertain = new Set(items.filter(({ kind }) => kind === "unknown_safety").map(({ capsuleId }) => capsuleId))
  return items.filter(({ kind, capsuleId }) => kind !== "failed" || !uncertain.has(capsuleId))
}

/** No newer commit: an input from another Capsule has changed. */
const staleOfInput = ({ kind, staleReasons = [] }: AttentionItem): boolean =>
  kind === "stale" && staleReasons.length > 0 && staleReasons.every((reason) => reason.kind === "input")

interface AttentionRowProps {
  readonly item: AttentionItem
  readonly capsule: Capsule | undefined
}

const AttentionRow = ({ item, capsule }: AttentionRowProps) => {
  const words = useWords(homeWords)
  const turns = useWords(credentialWords).turn
  const workspace = useWorkspace()
  const [icon, tone] = look[item.kind]
  const label = words.actions[item.kind]
  return (
    <li className="attention-row">
      <span className={`attention-icon attention-${tone}`}>
        <Icon name={icon} />
      </span>
      <span className="attention-text">
        <span className="row-name">
          <strong>
            {item.capsuleName ??
              capsule?.name ??
              item.connectionName ??
              item.sourceName ??
              item.capsuleId ??
              item.runId ??
              workspace.displayName}
          </strong>
          {item.ref === undefined ? null : <span className="tag">{item.ref}</span>}
          {capsule === undefined ? null : <span className="tag">{capsule.environment}</span>}
        </span>
        <span>
          {staleOfInput(item) ? words.staleInput : words.kinds[item.kind]} · <Time at={item.since} />
          {item.turn === undefined ? null : ` · ${turns[item.turn]}`}
        </span>
        {item.reason === undefined ? null : (
          <span className="muted" lang="en">
            {item.reason}
          </span>
        )}
      </span>
      {item.kind === "automation_paused" ? (
        <LinkButton small to="/w/$workspace/settings/$tab" params={{ workspace: workspace.handle, tab: "settings" }}>
          {label}
        </LinkButton>
      ) : item.runGroupId !== undefined ? (
        <LinkButton
          small
          to="/w/$workspace/updates/$groupId"
          params={{ workspace: workspace.handle, groupId: item.runGroupId }}
        >
          {label}
        </LinkButton>
      ) : item.sourceId !== undefined ? (
        <LinkButton
          small
          to="/w/$workspace/sources/$sourceId"
          params={{ workspace: workspace.handle, sourceId: item.sourceId }}
        >
          {label}
        </LinkButton>
      ) : item.connectionId !== undefined && item.turn === undefined ? (
        <LinkButton small to="/w/$workspace/connections" params={{ workspace: workspace.handle }}>
          {label}
        </LinkButton>
      ) : item.runId === undefined || item.turn !== undefined ? (
        item.capsuleId === undefined ? null : (
          <LinkButton
            small
            to="/w/$workspace/capsules/$capsuleId"
            params={{ workspace: workspace.handle, capsuleId: item.capsuleId }}
          >
            {label}
          </LinkButton>
        )
      ) : (
        <LinkButton
          small
          tone={item.kind === "waiting_approval" ? "primary" : "plain"}
          to="/w/$workspace/runs/$runId"
          params={{ workspace: workspace.handle, runId: item.runId }}
        >
          {label}
        </LinkButton>
      )}
    </li>
  )
}

const CapsuleCards = ({ capsules }: { readonly capsules: ReadonlyArray<Capsule> }) => {
  const workspace = useWorkspace()
  return (
    <ul className="rows">
      {capsules.slice(0, 8).map((capsule) => (
        <li key={capsule.id}>
          <Link
            to="/w/$workspace/capsules/$capsuleId"
            params={{ workspace: workspace.handle, capsuleId: capsule.id }}
            className="row row-capsule"
          >
            <span className="row-name">
              <strong>{capsule.name}</strong>
              <span className="muted">{capsule.environment}</span>
            </span>
            <CapsuleStatus status={capsule.status} />
          </Link>
        </li>
      ))}
    </ul>
  )
}

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
      </Empty>
    </Panel>
  )
}

const Content = ({ overview }: { readonly overview: Overview }) => {
  const words = useWords(homeWords)
  const workspace = useWorkspace()
  const params = { workspace: workspace.handle }
  const named = new Map(overview.capsules.map((capsule) => [capsule.id, capsule]))
  const runs: ReadonlyArray<Run> = overview.recentRuns
  const attention = oncePerCause(overview.attention)
  if (overview.capsules.length === 0 && runs.length === 0 && attention.length === 0) return <FirstSteps />
  return (
    <div className="home">
      <div className="home-main">
        <Panel
          flush
          title={words.attention}
          beside={attention.length === 0 ? null : <span className="count">{attention.length}</span>}
        >
          {attention.length === 0 ? (
            <div className="quiet">
              <Icon name="check" />
              <p>
                <strong>{words.attentionNone}</strong> {words.attentionNoneText}
              </p>
            </div>
          ) : (
            <ul className="attention">
              {attention.map((item) => (
                <AttentionRow
                  key={`${item.kind} ${item.capsuleId ?? ""} ${item.runId ?? ""} ${item.connectionId ?? ""} ${item.sourceId ?? ""} ${item.ref ?? ""} ${item.runGroupId ?? ""}`}
                  item={item}
                  capsule={item.capsuleId === undefined ? undefined : named.get(item.capsuleId)}
                />
              ))}
            </ul>
          )}
        </Panel>
        <Panel
          flush
          title={words.recent}
          actions={
            <Link to="/w/$workspace/runs" params={params} search={{ status: undefined, type: undefined }}>
              {words.allRuns}
            </Link>
          }
        >
          <RunList runs={runs.slice(0, 8)} capsules={overview.capsules} />
        </Panel>
      </div>
      <div className="home-side">
        <Panel
          flush
          title={words.capsules}
          beside={<span className="count">{overview.capsules.length}</span>}
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
          <CapsuleCards capsules={overview.capsules} />
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
          <ActivityList events={overview.activity.slice(0, 6)} />
        </Panel>
      </div>
    </div>
  )
}

export const HomeScreen = () => {
  const words = useWords(homeWords)
  const workspace = useWorkspace()
  const query = useQuery(overviewQuery(workspace.id))
  return (
    <Page title={words.title} documentTitle={workspace.displayName}>
      <Loadable query={query} skeleton={<Skeleton rows={6} />}>
        {(overview) => <Content overview={overview} />}
      </Loadable>
    </Page>
  )
}
