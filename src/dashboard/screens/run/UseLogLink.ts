import { type MouseEvent, useCallback, useEffect, useState } from "react"
import { extended, hashOf, type LineRange, rangeOf } from "./LogLink.ts"

const inAddress = () => rangeOf(window.location.hash)

/** The lines that the URL refers to. Clicking a number selects its line; with Shift, the range from the selected line. */
export const useLogLink = (
  setFollow: (follow: boolean) => void
): {
  readonly range: LineRange | undefined
  readonly onLink: (event: MouseEvent) => void
} => {
  const [range, setRange] = useState(inAddress)
  useEffect(() => {
    const onHash = () => {
      const named = inAddress()
      setRange(named)
      if (named !== undefined) setFollow(false)
    }
    window.addEventListener("hashchange", onHash)
    return () => window.removeEventListener("hashchange", onHash)
  }, [setFollow])
  const onLink = useCallback(
    (event: MouseEvent) => {
      if (event.metaKey || event.ctrlKey || !(event.currentTarget instanceof HTMLElement)) return
      event.preventDefault()
      setFollow(false)
      const line = Number(event.currentTarget.dataset["line"])
      setRange((known) => {
        const next = event.shiftKey ? extended(known, line) : { from: line, to: line }
        // Adds no entry to the browser's history.
        window.history.replaceState(window.history.state, "", hashOf(next))
        return next
      })
    },
    [setFollow]
  )
  return { range, onLink }
}
