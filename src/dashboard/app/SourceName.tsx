import { useQuery } from "@tanstack/react-query"
import { sourceQuery, sourcesQuery } from "../api/Queries.ts"
import { repositoryName } from "../words/Format.ts"
import { useWorkspace } from "./Workspace.ts"

/**
 * A Source of the Workspace. It is taken from the list of Sources or, if it has been removed and is no longer in the list,
 * read separately.
 */
export const useKnownSource = (id: string | undefined) => {
  const workspace = useWorkspace()
  const sources = useQuery({ ...sourcesQuery(workspace.id), enabled: id !== undefined }).data
  const listed = sources?.find((source) => source.id === id)
  const read = useQuery({
    ...sourceQuery(id ?? ""),
    enabled: id !== undefined && sources !== undefined && listed === undefined
  }).data
  return listed ?? read
}

/** The repository of a Source, shown in a line about the Source. */
export const SourceName = ({ id, children }: { readonly id: string; readonly children: React.ReactNode }) => {
  const source = useKnownSource(id)
  return source === undefined ? (
    children
  ) : (
    <>
      <strong>{repositoryName(source.url)}</strong> <span className="muted">{children}</span>
    </>
  )
}
