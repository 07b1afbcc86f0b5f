import { type ButtonHTMLAttributes, type ComponentType, createContext, type ReactElement, type ReactNode } from "react"

export interface MenuProps {
  readonly trigger: ReactElement<ButtonHTMLAttributes<HTMLButtonElement>>
  readonly align?: "start" | "end"
  readonly side?: "top" | "bottom"
  readonly children: ReactNode
}

/** The code of an open menu, loaded on demand. */
export interface MenuPopups {
  /** Starts loading. A failure is shown when the menu is opened. */
  readonly preload: () => void
  /** Suspends until the code has loaded. */
  readonly Popup: ComponentType<MenuProps>
}

/** Provided by the application, because code that is loaded on demand imports components with menus. */
export const MenuPopups = createContext<MenuPopups | undefined>(undefined)
