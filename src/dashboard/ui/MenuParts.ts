import type { Menu } from "@base-ui/react/menu"
import { createContext } from "react"

/** The library's parts, there for whatever is drawn inside an open menu. */
export const MenuParts = createContext<typeof Menu | undefined>(undefined)
