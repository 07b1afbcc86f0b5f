import { useEffect } from "react"
import { preferences } from "../preferences/Preferences.ts"

/** The pages of a Workspace that `g` and a letter open. */
export const goKeys = {
  h: "home",
  c: "capsules",
  r: "runs",
  p: "pullRequests",
  s: "sources",
  k: "connections",
  a: "activity",
  w: "workspace"
} as const

export type GoTarget = (typeof goKeys)[keyof typeof goKeys]

interface Actions {
  /** Called when Cmd or Ctrl is pressed, because the person may press K next. */
  readonly beforePalette: () => void
  readonly palette: () => void
  readonly help: () => void
  readonly install: () => void
  readonly go: (target: GoTarget) => void
}

const isGoKey = (key: string): key is keyof typeof goKeys => Object.hasOwn(goKeys, key)

export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest("input, textarea, select, dialog") !== null)

/** The time within which a letter must follow `g`. */
export const goChordMs = 1200

export const useShortcuts = (actions: Actions): void => {
  useEffect(() => {
    let goAt = 0
    const onKey = (event: KeyboardEvent) => {
      const { key } = event
      if (key === "Meta" || key === "Control") actions.beforePalette()
      if ((event.metaKey || event.ctrlKey) && !event.altKey && key.toLowerCase() === "k") {
        event.preventDefault()
        actions.palette()
        return
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target) || !preferences().letterKeys) return
      if (goAt > 0 && event.timeStamp - goAt < goChordMs && isGoKey(key)) {
        goAt = 0
        event.preventDefault()
        actions.go(goKeys[key])
        return
      }
      goAt = key === "g" ? event.timeStamp : 0
      if (key === "?") actions.help()
      if (key === "n") actions.install()
      if (key === "/") {
        const search = document.querySelector("[data-page-search]")
        if (search instanceof HTMLInputElement) {
          event.preventDefault()
          search.focus()
          search.select()
        }
      }
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [actions])
}
