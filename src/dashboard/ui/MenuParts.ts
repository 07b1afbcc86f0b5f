import type { Menu } from "@base-ui/react/menu"
import { createContext } from "react"

/** The library's components, for everything in an open menu. */
export const MenuParts = createContext<typeof Menu | undefined>(undefined)
