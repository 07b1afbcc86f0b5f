import { useEffect, useRef } from "react"
import { preferences } from "../preferences/Preferences.ts"
import { goChordMs, isTyping } from "./Shortcuts.ts"

/**
 * Handles a page's shortcuts that consist of a letter without a modifier. They are off while the person types, while a
 * dialog is open, if the person has turned letter keys off, and after `g`, because `g` and a letter open another page.
 */
export const useLetterKeys = (actions: Readonly<Record<string, (() => void) | undefined>>): void => {
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => {
    let goAt = Number.NEGATIVE_INFINITY
    const onKey = (event: KeyboardEvent) => {
      const { key } = event
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || event.repeat) return
      if (isTyping(event.target) || document.querySelector("dialog[open]") !== null || !preferences().letterKeys) return
      const follows = event.timeStamp - goAt < goChordMs
      goAt = key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY
      const action = follows ? undefined : latest.current[key]
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [])
}
