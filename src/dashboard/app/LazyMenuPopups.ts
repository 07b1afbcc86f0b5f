import { lazy } from "react"
import { whenReachable } from "../api/Reachability.ts"
import type { MenuPopups } from "../ui/MenuPopups.ts"

// The code for menus is loaded on demand, because it would make up a tenth of a page's initial code and most people never
// open a menu.
const load = whenReachable(() => import("../ui/MenuPopup.tsx"))

/** The code for open menus, which is in a separate file. */
export const lazyMenuPopups: MenuPopups = {
  preload: () => {
    load().catch(() => undefined)
  },
  Popup: lazy(async () => ({ default: (await load()).MenuPopup }))
}
