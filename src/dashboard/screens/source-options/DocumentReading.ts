import { useState } from "react"
import type { SourceReading } from "../install/ReadSource.ts"
import type { OptionsLink } from "../install/InstallLink.ts"

/** The progress of reading a link's document, stored in this browser tab so that a reload continues it. */
export interface DocumentReading extends SourceReading {
  /** Set only when the link does not name a revision. */
  readonly tag?: string
}

const text = (value: unknown, name: string): string | undefined => {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
  return typeof found === "string" ? found : undefined
}

/** Restores what was stored; anything unexpected is ignored. */
export const restoreReading = (kept: string | null): DocumentReading | undefined => {
  let parsed: unknown
  try {
    parsed = JSON.parse(kept ?? "null")
  } catch {
    return undefined
  }
  const sourceId = text(parsed, "sourceId")
  const syncRunId = text(parsed, "syncRunId")
  const tag = text(parsed, "tag")
  if (sourceId === undefined || syncRunId === undefined) return undefined
  return { sourceId, syncRunId, ...(tag === undefined ? {} : { tag }) }
}

const readKept = (key: string): string | null => {
  try {
    return sessionStorage.getItem(key)
  } catch {
    return null
  }
}

export const useDocumentReading = (link: OptionsLink, workspaceId: string) => {
  const key = `svc.options ${workspaceId} ${JSON.stringify(link)}`
  const [reading, setReading] = useState(() => restoreReading(readKept(key)))
  return {
    reading,
    keep: (next: DocumentReading): void => {
      setReading(next)
      try {
        sessionStorage.setItem(key, JSON.stringify(next))
      } catch {
        // Without storage, it lasts as long as the page.
      }
    }
  }
}
