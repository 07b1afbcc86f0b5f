import type { Menu } from "@base-ui/react/menu"
import { createContext } from "react"

/** The components of the menu library, for the contents of an open menu. */
export const MenuParts = createContext<typeof Menu | undefined>(undefined)
