import { useQueryClient } from "@tanstack/react-query"
import { useRouterState } from "@tanstack/react-router"
import { useEffect } from "react"
import { isReachable, probe, subscribeReachability, useReachable } from "../api/Reachability.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { useWords } from "../words/Words.ts"
import { appWords } from "./Words.ts"

/**
 * A notice that is shown while the server does not respond. It explains what happens to clicks in the meantime, and
 * refreshes the page when the server responds again.
 */
export const ConnectionNotice = () => {
  const words = useWords(appWords)
  const queryClient = useQueryClient()
  const reachable = useReachable()
  const isWaiting = useRouterState({ select: ({ status }) => status === "pending" })
  useEffect(
    () =>
      subscribeReachability(() => {
        if (isReachable())
          void queryClient.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" })
      }),
    [queryClient]
  )
  return (
    <output className="connection-place">
      {reachable ? null : (
        <span className="connection-lost">
          <Icon name="warning" />
          <span>
            <strong>{words.unreachable}</strong> {isWaiting ? words.unreachableClick : words.unreachableStays}
          </span>
          <Button small onClick={() => void probe()}>
            {words.unreachableRetry}
          </Button>
        </span>
      )}
    </output>
  )
}
