import { useEffect, useRef } from "react"
import { isTyping } from "../../app/Shortcuts.ts"
import { preferences } from "../../preferences/Preferences.ts"

/** The E key jumps to the next error in the log. */
export const useNextError = (next: () => void): void => {
  const latest = useRef(next)
  useEffect(() => {
    latest.current = next
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "e" || event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
      if (isTyping(event.target) || document.querySelector("dialog[open]") !== null || !preferences().letterKeys) return
      latest.current()
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [])
}
