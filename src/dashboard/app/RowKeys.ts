import { useEffect } from "react"
import { preferences } from "../preferences/Preferences.ts"
import { isTyping } from "./Shortcuts.ts"

/** J and K move the focus through the rows of the list. Each row is a link, so Enter opens the row. */
export const useRowKeys = (selector: string): void => {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0
      if (step === 0 || event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
      if (isTyping(event.target) || document.querySelector("dialog[open]") !== null || !preferences().letterKeys) return
      const rows = [...document.querySelectorAll<HTMLElement>(selector)]
      const at = rows.findIndex((row) => row === document.activeElement)
      const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step]
      if (next === undefined) return
      event.preventDefault()
      next.focus()
      next.scrollIntoView({ block: "nearest" })
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [selector])
}
