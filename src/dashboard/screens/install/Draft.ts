import { useState } from "react"
import { newIdempotencyKey } from "../../api/Client.ts"
import type { Draft } from "../../forms/FormModel.ts"
import type { InstallLink } from "./InstallLink.ts"

/**
 * The data that the person has entered in one install, except secret answers, and how far the person has progressed. Stored
 * in this browser tab until the install is finished.
 */
export interface InstallDraft {
  readonly id: string
  readonly url: string
  readonly ref: string
  readonly path: string
  readonly authConnectionId: string
  readonly name: string
  /** The name that this page proposed. When the person chooses another module, a new proposal may replace it. */
  readonly proposedName: string
  readonly environment: string
  readonly sourceId?: string | undefined
  readonly syncRunId?: string | undefined
  readonly modulePath?: string | undefined
  readonly reportId?: string | undefined
  readonly answers: Draft
  readonly bindings: Readonly<Record<string, string>>
}

const storageKey = (link: InstallLink, workspaceId: string): string =>
  `svc.install ${workspaceId} ${JSON.stringify(link)}`

const fresh = (link: InstallLink): InstallDraft => ({
  id: newIdempotencyKey(),
  url: link.url ?? "",
  ref: link.ref ?? "HEAD",
  path: link.sourcePath ?? ".",
  authConnectionId: "",
  name: (link.name ?? "").slice(0, 80),
  proposedName: "",
  environment: "production",
  answers: {},
  bindings: {}
})

const texts = (value: unknown): Record<string, string> =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string")
      )
    : {}

/** Restores a stored draft. Ignores unexpected values, for example from an older version of this page. */
export const restoreDraft = (kept: string | null, link: InstallLink): InstallDraft => {
  const start = fresh(link)
  if (kept === null) return start
  let parsed: unknown
  try {
    parsed = JSON.parse(kept)
  } catch {
    return start
  }
  const found = texts(parsed)
  const inside = (name: string): unknown =>
    typeof parsed === "object" && parsed !== null ? Reflect.get(parsed, name) : undefined
  return {
    ...start,
    ...Object.fromEntries(
      (
        [
          "id",
          "url",
          "ref",
          "path",
          "authConnectionId",
          "name",
          "proposedName",
          "environment",
          "sourceId",
          "syncRunId",
          "modulePath",
          "reportId"
        ] as const
      ).flatMap((name) => (found[name] === undefined ? [] : [[name, found[name]]]))
    ),
    answers: texts(inside("answers")),
    bindings: texts(inside("bindings"))
  }
}

const readKept = (key: string): string | null => {
  try {
    return sessionStorage.getItem(key)
  } catch {
    return null
  }
}

const keep = (key: string, draft: InstallDraft | undefined): void => {
  try {
    if (draft === undefined) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, JSON.stringify(draft))
  } catch {
    // Without storage, the draft lasts only until the page closes.
  }
}

export interface DraftState {
  readonly draft: InstallDraft
  readonly change: (next: Partial<InstallDraft>) => void
  /** Deletes the stored draft. The page continues to show what was sent until the next page replaces it. */
  readonly forget: () => void
}

export const useInstallDraft = (link: InstallLink, workspaceId: string): DraftState => {
  const key = storageKey(link, workspaceId)
  const [draft, setDraft] = useState(() => restoreDraft(readKept(key), link))
  return {
    draft,
    change: (next) =>
      setDraft((current) => {
        const changed = { ...current, ...next }
        keep(key, changed)
        return changed
      }),
    forget: () => keep(key, undefined)
  }
}
