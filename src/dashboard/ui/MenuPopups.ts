import { type ButtonHTMLAttributes, type ComponentType, createContext, type ReactElement, type ReactNode } from "react"

export interface MenuProps {
  readonly trigger: ReactElement<ButtonHTMLAttributes<HTMLButtonElement>>
  readonly align?: "start" | "end"
  readonly side?: "top" | "bottom"
  readonly children: ReactNode
}

/** Where the open form of a menu comes from; it is loaded on demand. */
export interface MenuPopups {
  /** Starts the download; a failure shows when the menu is opened. */
  readonly preload: () => void
  /** Suspends until it is loaded. */
  readonly Popup: ComponentType<MenuProps>
}

/** Given by the application, since what is loaded on demand imports the pieces that a menu is one of. */
export const MenuPopups = createContext<MenuPopups | undefined>(undefined)
