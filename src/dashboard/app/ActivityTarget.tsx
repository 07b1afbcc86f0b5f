import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { capsulesQuery, connectionsQuery } from "../api/Queries.ts"
import type { AuditEvent, Run } from "../api/Types.ts"
import { repositoryName } from "../words/Format.ts"
import { useWords } from "../words/Words.ts"
import { useActorName } from "./Actors.ts"
import { useKnownSource } from "./SourceName.tsx"
import { useWorkspace } from "./Workspace.ts"

const kinds = {
  en: {
    access_token: "API token",
    agent: "Agent",
    agent_pool: "Pool of agents",
    approval_rule: "Approval rule",
    backup: "Backup",
    capsule: "Capsule",
    connection: "Connection",
    dependency: "Dependency",
    install_plan: "Install of",
    interface_intent: "Interface",
    invitation: "Invitation",
    left_over_state: "Left-over state",
    member: "Member",
    oauth_client: "Sign-in client",
    oauth_grant: "Sign-in",
    output_share: "Share of outputs",
    passkey: "Passkey",
    policy: "Policy",
    project: "Project",
    revision_plan: "Plan of another revision",
    run: "Run",
    run_group: "Update of the workspace",
    session: "Session",
    signing_key: "Signing key",
    source: "Source",
    state_upload: "Uploaded state",
    team: "Team",
    user: "Account",
    workspace: "Workspace"
  },
  ja: {
    access_token: "API トークン",
    agent: "エージェント",
    agent_pool: "エージェントのプール",
    approval_rule: "承認ルール",
    backup: "バックアップ",
    capsule: "カプセル",
    connection: "接続",
    dependency: "依存関係",
    install_plan: "インストール対象",
    interface_intent: "インターフェース",
    invitation: "招待",
    left_over_state: "残されたステート",
    member: "メンバー",
    oauth_client: "サインインクライアント",
    oauth_grant: "サインイン",
    output_share: "出力の共有",
    passkey: "パスキー",
    policy: "ポリシー",
    project: "プロジェクト",
    revision_plan: "別のリビジョンのプラン",
    run: "実行",
    run_group: "ワークスペースの更新",
    session: "セッション",
    signing_key: "署名鍵",
    source: "ソース",
    state_upload: "アップロードされたステート",
    team: "チーム",
    user: "アカウント",
    workspace: "ワークスペース"
  }
}

const isNamed = (kind: string, names: Readonly<Record<string, string>>): string =>
  names[kind] ?? kind.replaceAll("_", " ")

const recordedName = ({ data }: AuditEvent): string | undefined =>
  typeof data.name === "string" && data.name !== "" ? data.name : undefined

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

/** The Capsule that an install will create. */
const installed = ({ data: { capsule, environment } }: AuditEvent): string | undefined =>
  isText(capsule) ? `${capsule}${isText(environment) ? ` · ${environment}` : ""}` : undefined

/** A Run has no name, so the name of its Capsule or Source is used. */
const subjectOf = ({ capsuleId, target }: AuditEvent, run: Run | undefined): AuditEvent["target"] => {
  if (target.kind === "run" && capsuleId !== undefined) return { kind: "capsule", id: capsuleId }
  if (target.kind !== "run" || run === undefined) return target
  if (run.capsuleId !== undefined) return { kind: "capsule", id: run.capsuleId }
  return run.sourceId === undefined ? target : { kind: "source", id: run.sourceId }
}

interface NameProps {
  readonly event: AuditEvent
  readonly target: AuditEvent["target"]
}

const Name = ({ event, target: { id, kind } }: NameProps) => {
  const workspace = useWorkspace()
  const actorName = useActorName()
  const capsules = useQuery({ ...capsulesQuery(workspace.id), enabled: kind === "capsule" }).data
  const source = useKnownSource(kind === "source" ? id : undefined)
  const connections = useQuery({ ...connectionsQuery(workspace.id), enabled: kind === "connection" }).data
  const params = { workspace: workspace.handle }
  const capsule = capsules?.find((each) => each.id === id)
  if (capsule !== undefined)
    return (
      <Link to="/w/$workspace/capsules/$capsuleId" params={{ ...params, capsuleId: id }}>
        {capsule.name} · {capsule.environment}
      </Link>
    )
  if (source !== undefined)
    return (
      <Link to="/w/$workspace/sources/$sourceId" params={{ ...params, sourceId: id }}>
        {repositoryName(source.url)}
      </Link>
    )
  const connection = connections?.find((each) => each.id === id)
  const name =
    connection?.displayName ??
    (kind === "install_plan" ? installed(event) : recordedName(event)) ??
    (kind === "member" || kind === "user"
      ? actorName(id)
      : kind === "workspace" && id === workspace.id
        ? workspace.displayName
        : undefined)
  // If a record has no name, its kind is shown, which is more helpful to people than an id. The export contains the id.
  return name === undefined || name === id ? null : <>{name}</>
}

/** The changed record. As long as it exists, it is shown by name. `run` is the event's Run, if the page has loaded it. */
export const ActivityTarget = ({ event, run }: { readonly event: AuditEvent; readonly run: Run | undefined }) => {
  const names = useWords(kinds)
  const target = subjectOf(event, run)
  return (
    <span title={target.id}>
      {isNamed(target.kind, names)} <Name event={event} target={target} />
    </span>
  )
}
