import type { Connection } from "../../api/Types.ts"
import { type UsedFrom, usedFrom } from "./UsedFrom.ts"

type Use = Connection["use"]

const upTo: Readonly<Record<UsedFrom, Use["roles"]>> = {
  owner: ["owner"],
  admin: ["owner", "admin"],
  member: ["owner", "admin", "member"]
}

/** The contents of the form. Lists have one entry per line. A secret is empty unless the person replaces it. */
export interface ConnectionChangeDraft {
  readonly displayName: string
  readonly expiresOn: string
  readonly from: UsedFrom
  readonly refs: string
  readonly modules: string
  readonly projectIds: string
  readonly values: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
}

const lines = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")

const dateOf = (connection: Connection): string => connection.expiresAt?.slice(0, 10) ?? ""

export const changeDraft = (connection: Connection): ConnectionChangeDraft => {
  const { modules = [], projectIds = [], refs = [] } = connection.use
  return {
    displayName: connection.displayName,
    expiresOn: dateOf(connection),
    from: usedFrom(connection.use),
    refs: refs.join("\n"),
    modules: modules.map(({ origin, path }) => `${origin} ${path}`).join("\n"),
    projectIds: projectIds.join("\n"),
    values: {},
    files: {}
  }
}

const given = (typed: Readonly<Record<string, string>>) => Object.entries(typed).filter(([, text]) => text !== "")

const useOf = (draft: ConnectionChangeDraft) => {
  const refs = lines(draft.refs)
  const projectIds = lines(draft.projectIds)
  const modules = lines(draft.modules).map((line) => {
    const [origin = "", path = "."] = line.split(/\s+/)
    return { origin, path }
  })
  return {
    roles: upTo[draft.from],
    ...(projectIds.length === 0 ? {} : { projectIds }),
    ...(modules.length === 0 ? {} : { modules }),
    ...(refs.length === 0 ? {} : { refs })
  }
}

/** The changes to a Connection. Contains only the fields that differ. */
export const changeBody = (connection: Connection, draft: ConnectionChangeDraft) => {
  const before = changeDraft(connection)
  const isSameUse = (["from", "refs", "modules", "projectIds"] as const).every(
    (field) => draft[field] === before[field]
  )
  const values = given(draft.values)
  const files = given(draft.files)
  const displayName = draft.displayName.trim()
  return {
    ...(displayName === connection.displayName ? {} : { displayName }),
    ...(draft.expiresOn === before.expiresOn
      ? {}
      : { expiresAt: draft.expiresOn === "" ? null : `${draft.expiresOn}T23:59:59.000Z` }),
    ...(isSameUse ? {} : { use: useOf(draft) }),
    ...(values.length === 0 ? {} : { values: Object.fromEntries(values) }),
    ...(files.length === 0 ? {} : { files: files.map(([name, content]) => ({ name, content })) })
  }
}
