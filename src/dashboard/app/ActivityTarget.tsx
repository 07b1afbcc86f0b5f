import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { capsulesQuery, connectionsQuery, sourcesQuery } from "../api/Queries.ts"
import type { AuditEvent } from "../api/Types.ts"
import { repositoryName } from "../words/Format.ts"
import { useWords } from "../words/Words.ts"
import { useActorName } from "./Actors.ts"
import { useWorkspace } from "./Workspace.ts"

const kinds = {
  en: { capsule: "Capsule", source: "Source", connection: "Connection", member: "Member", run: "Run" },
  ja: { capsule: "カプセル", source: "ソース", connection: "接続", member: "メンバー", run: "実行" }
}

const isNamed = (kind: string, names: Readonly<Record<string, string>>): string =>
  names[kind] ?? kind.replaceAll("_", " ")

const recordedName = ({ data }: AuditEvent): string | undefined =>
  typeof data.name === "string" && data.name !== "" ? data.name : undefined

const Name = ({ event }: { readonly event: AuditEvent }) => {
  const workspace = useWorkspace()
  const actorName = useActorName()
  const { id, kind } = event.target
  const capsules = useQuery({ ...capsulesQuery(workspace.id), enabled: kind === "capsule" }).data
  const sources = useQuery({ ...sourcesQuery(workspace.id), enabled: kind === "source" }).data
  const connections = useQuery({ ...connectionsQuery(workspace.id), enabled: kind === "connection" }).data
  const params = { workspace: workspace.handle }
  const capsule = capsules?.find((each) => each.id === id)
  if (capsule !== undefined)
    return (
      <Link to="/w/$workspace/capsules/$capsuleId" params={{ ...params, capsuleId: id }}>
        {capsule.name} · {capsule.environment}
      </Link>
    )
  const source = sources?.find((each) => each.id === id)
  if (source !== undefined)
    return (
      <Link to="/w/$workspace/sources/$sourceId" params={{ ...params, sourceId: id }}>
        {repositoryName(source.url)}
      </Link>
    )
  const connection = connections?.find((each) => each.id === id)
  const name = connection?.displayName ?? recordedName(event) ?? (kind === "member" ? actorName(id) : undefined)
  return name === undefined || name === id ? <code>{id}</code> : name
}

/** What was acted on, by its name as long as the record exists. */
export const ActivityTarget = ({ event }: { readonly event: AuditEvent }) => {
  const names = useWords(kinds)
  return (
    <>
      {isNamed(event.target.kind, names)} <Name event={event} />
    </>
  )
}
