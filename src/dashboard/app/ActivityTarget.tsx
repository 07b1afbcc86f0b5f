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
    capsule: "Capsule",
    source: "Source",
    connection: "Connection",
    member: "Member",
    run: "Run",
    workspace: "Workspace",
    install_plan: "Install of"
  },
  ja: {
    capsule: "カプセル",
    source: "ソース",
    connection: "接続",
    member: "メンバー",
    run: "実行",
    workspace: "ワークスペース",
    install_plan: "インストール対象"
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

/** A Run has no name, so its Capsule or Source is used. */
const subjectOf = ({ target }: AuditEvent, run: Run | undefined): AuditEvent["target"] => {
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
    (kind === "member"
      ? actorName(id)
      : kind === "workspace" && id === workspace.id
        ? workspace.displayName
        : undefined)
  return name === undefined || name === id ? <code>{id}</code> : name
}

/** The changed record, shown by its name while it exists. `run` is the event's Run, if the page has loaded it. */
export const ActivityTarget = ({ event, run }: { readonly event: AuditEvent; readonly run: Run | undefined }) => {
  const names = useWords(kinds)
  const target = subjectOf(event, run)
  return (
    <>
      {isNamed(target.kind, names)} <Name event={event} target={target} />
    </>
  )
}
