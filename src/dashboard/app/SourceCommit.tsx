import { useQuery } from "@tanstack/react-query"
import type { CommitDescription } from "../../../schema/records/Commit.ts"
import { sourceQuery } from "../api/Queries.ts"
import { Commit } from "../ui/Commit.tsx"

/** The commit of a Source, for a page that has only the Source's id. */
export const SourceCommit = ({
  sourceId,
  id,
  description
}: {
  readonly sourceId: string | undefined
  readonly id: string
  readonly description: CommitDescription | undefined
}) => {
  const { data } = useQuery({ ...sourceQuery(sourceId ?? ""), enabled: sourceId !== undefined })
  return <Commit id={id} description={description} gitAddress={data?.url} />
}
