import { useQuery } from "@tanstack/react-query"
import { membersQuery } from "../api/Queries.ts"
import { useBootstrap, useOptionalWorkspace } from "./Workspace.ts"

/**
 * Returns a function that replaces a subject with the person's name in this Workspace. The function returns unknown subjects
 * unchanged.
 */
export const useActorName = (): ((subject: string) => string) => {
  const { subject: own } = useBootstrap()
  const workspace = useOptionalWorkspace()
  const { data: members } = useQuery({
    ...membersQuery(workspace?.id ?? ""),
    enabled: workspace !== undefined,
    staleTime: 60_000
  })
  return (subject) => {
    const member = members?.find((each) => each.subject === subject)
    const name =
      member?.displayName ?? member?.email ?? (subject === own.id ? (own.displayName ?? own.email) : undefined)
    return name ?? subject
  }
}
