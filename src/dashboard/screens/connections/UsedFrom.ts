import type { Connection } from "../../api/Types.ts"

type Use = Connection["use"]

/** The lowest role that may use a Connection. Higher roles may use it too. */
export type UsedFrom = Use["roles"][number]

export const usedFrom = ({ roles }: Use): UsedFrom => {
  if (roles.includes("member")) return "member"
  return roles.includes("admin") ? "admin" : "owner"
}
