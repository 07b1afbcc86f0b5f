import { useEffect, useRef } from "react"
import { errorPlaceOf, hashOf } from "./LogLink.ts"

/** Scrolls to the log error that the URL refers to, once it has arrived. */
export const useErrorLink = (errors: ReadonlyArray<number>, go: (index: number) => void): void => {
  const latest = useRef({ errors, go })
  const wanted = useRef(errorPlaceOf(window.location.hash))
  const tryIt = useRef(() => {
    const index = wanted.current === undefined ? undefined : latest.current.errors[wanted.current - 1]
    if (index === undefined) return
    wanted.current = undefined
    // Replaced by the line's own URL, so that clicking the same link again registers as a change.
    window.history.replaceState(window.history.state, "", hashOf({ from: index + 1, to: index + 1 }))
    latest.current.go(index)
  })
  useEffect(() => {
    latest.current = { errors, go }
    tryIt.current()
  })
  useEffect(() => {
    const onHash = () => {
      wanted.current = errorPlaceOf(window.location.hash)
      tryIt.current()
    }
    window.addEventListener("hashchange", onHash)
    return () => window.removeEventListener("hashchange", onHash)
  }, [])
}
