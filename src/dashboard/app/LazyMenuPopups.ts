import { lazy } from "react"
import { whenReachable } from "../api/Reachability.ts"
import type { MenuPopups } from "../ui/MenuPopups.ts"

// A tenth of a page's initial code, for something that most visits never open.
const load = whenReachable(() => import("../ui/MenuPopup.tsx"))

/** The open form of the menus, in a separate file. */
export const lazyMenuPopups: MenuPopups = {
  preload: () => {
    load().catch(() => undefined)
  },
  Popup: lazy(async () => ({ default: (await load()).MenuPopup }))
}
